/**
 * What secrets are called: passwords, keys, tokens, one-time codes, payment data, and what stands for a person at a
 * bank or an authority. In the languages people name fields in; accents, case, spaces and hyphens do not matter.
 * Source: MCP 2026-07-28, elicitation, safety.
 */

/**
 * How a word is found. `anywhere`: also inside a longer word. `open`: at the start of a word, which may go on by an
 * ending. `whole`: alone. `last`: like `open`, and it only counts where nothing follows that it would be a property
 * of.
 */
export type Manner = "anywhere" | "open" | "whole" | "last";

/** Manner → words, one list for each language or group of languages. */
export const SECRETS: Readonly<Record<Manner, readonly string[]>> = {
  anywhere: [
    // English, and what others borrow from it
    "password, passwd, passphrase, pass code, apikey, api secret, api token, secret key, secret access key, private key, access token, " +
      "auth token, oauth token, refresh token, bearer token, session token, security token, client secret, credit card, debit card, card number, cvv code, " +
      "social security, seed phrase, recovery phrase, one time password, one time code, connection string, url with creds, url with credentials, url with password, uri with creds, encryption key, credentials",
    // German, Dutch, Scandinavian
    "passwort, kennwort, zugangsdaten, anmeldedaten, geheimzahl, geheimcode, kreditkarte, kartennummer, kontonummer, bankverbindung, einmalcode, einmalpasswort, " +
      "zugriffsschlüssel, zugangscode, zugriffstoken, zugangstoken, sicherheitscode, bestätigungscode, kartenprüfnummer, sozialversicherungsnummer",
    "wachtwoord, wachtzin, toegangscode, toegangstoken, toegangssleutel, creditcardnummer, kaartnummer, beveiligingscode, verificatiecode, inloggegevens, " +
      "rekeningnummer, burgerservicenummer, privésleutel, pincode",
    "lösenord, adgangskode, kodeord, passord, salasana, heslo, jelszó, zaporka, lozinka",
    // Romance
    "mot de passe, phrase de passe, phrase secrète, clé privée, clé secrète, clé d'api, clé api, clé d'accès, jeton d'accès, jeton accès, code confidentiel, carte bancaire, " +
      "carte de crédit, carte bleue, numéro de carte, numéro de la carte, cryptogramme visuel, identifiants de connexion, sécurité sociale",
    "contraseña, frase secreta, clave secreta, clave privada, clave de acceso, clave de api, clave api, código secreto, código de seguridad, código de verificación, " +
      "número de tarjeta, número de la tarjeta, número tarjeta, tarjeta de crédito, tarjeta de débito, token de acceso, credenciales, seguridad social",
    "palavra passe, chave secreta, chave privada, chave de acesso, chave de api, chave api, código de segurança, código de verificação, número do cartão, número de cartão, " +
      "cartão de crédito, cartão de débito, token de acesso, credenciais, frase de recuperação",
    "parola d'ordine, chiave segreta, chiave privata, chiave di accesso, chiave api, codice segreto, codice di sicurezza, codice di verifica, numero di carta, numero della carta, " +
      "numero carta, carta di credito, carta di debito, token di accesso, credenziali, frase segreta",
    // Slavic
    "klucz prywatny, klucz api, klucz dostępu, tajny klucz, token dostępu, numer karty, karta kredytowa, karty kredytowej, kod pin, kod weryfikacyjny, kod bezpieczeństwa, dane logowania",
    "пароль, парол, секретный ключ, закрытый ключ, приватный ключ, ключ доступа, ключ api, api ключ, токен доступа, номер карты, номер банковской карты, кредитная карта, кредитной карты, " +
      "код подтверждения, код безопасности, секретный код, одноразовый код, кодовое слово, учетные данные, пин код, секретная фраза",
    // Turkish
    "api anahtarı, gizli anahtar, özel anahtar, erişim anahtarı, erişim belirteci, kart numarası, kredi kartı, güvenlik kodu, doğrulama kodu",
    // East Asia
    "パスワード, パスフレーズ, パスコード, 暗証番号, 秘密鍵, 秘密キー, シークレットキー, apiキー, アクセスキー, アクセストークン, 認証トークン, カード番号, クレジットカード, セキュリティコード, 認証コード, " +
      "確認コード, 認証番号, 合言葉, 口座番号, マイナンバー, ワンタイム",
    "密码, 密碼, 口令, 密钥, 密鑰, 金鑰, 私钥, 私鑰, 访问令牌, 存取權杖, 验证码, 驗證碼, 信用卡号, 信用卡號, 银行卡号, 卡号, 卡號, 安全码, 助记词, 助記詞, 登录凭证, 身份证号, 身分證字號, 银行账号",
    "비밀번호, 패스워드, 비번, 암호, 비밀키, 개인키, api키, 액세스토큰, 인증토큰, 카드번호, 신용카드, 인증번호, 인증코드, 보안코드, 주민등록번호, 계좌번호",
    "mật khẩu, kata sandi, รหัสผ่าน",
    // Arabic, Persian, Urdu, Hebrew
    "كلمة المرور, كلمة مرور, كلمة السر, كلمة سر, الرقم السري, رقم سري, الرمز السري, رمز التحقق, رمز الأمان, رمز الوصول, رمز المرور, المفتاح السري, مفتاح سري, المفتاح الخاص, مفتاح api, " +
      "مفتاح الوصول, رقم البطاقة, رقم بطاقة, بطاقة الائتمان, بيانات الاعتماد, رمز عبور, گذرواژه, پاس ورڈ, סיסמה, סיסמא, ססמה",
    // India
    "पासवर्ड, कूटशब्द, गुप्त कुंजी, निजी कुंजी, api कुंजी, एपीआई कुंजी, एक्सेस टोकन, कार्ड नंबर, क्रेडिट कार्ड, डेबिट कार्ड, सुरक्षा कोड, सत्यापन कोड, ओटीपी, পাসওয়ার্ড, கடவுச்சொல், పాస్‌వర్డ్, પાસવર્ડ, ਪਾਸਵਰਡ",
  ],
  open: [
    "credential, creds, id token, digit code, json key, card expiry date, card expiration date, card exp date, expiry date of your card, security question answer, mnemonic phrase, mnemonic words, mnemonic seed, recovery code, backup code, security code, verification code, authenticator code, authentication code, authorization code, security answer, " +
      "secret answer, maiden name, bank account, routing number, account key, license key, licence key, activation key, product key, access key, signing key, signature key, master key, " +
      "deploy key, shared key, symmetric key, decryption key, hmac key, service account key, subscription key, consumer key, auth key, app key, application key, account number of your bank, " +
      "webhook secret, app secret, consumer secret, secret value, secret string, secret phrase, secret word, secret code, secret token, secret recovery, basic auth, authorization header, " +
      "session cookie, wallet key, wallet seed, recovery key, wpa key, wifi key, network key, admin key, root key, unlock code, access code, login code, sms code, passkey secret",
    "geheimnis, geheimwort, zugangsschlüssel, zugangsschluessel, entsperrcode, geheimer schlüssel, geheimer schluessel, geheimen schlüssel, privater schlüssel, privater schluessel, privaten schlüssel, api schlüssel, api schluessel, lizenzschlüssel, " +
      "prüfziffer, geheime sleutel, api sleutel",
    "cryptogramme, code secret, code de sécurité, code de vérification, code pin, codice pin, código pin, codice otp, senha, hasło, hasła, şifre, parola, parolanız",
    "секрет, снилс, инн карты, कार्ड पिन",
  ],
  whole: [
    "userpass, usrpass, dbpass, rootpass, rootpw, userpw, dbpw, adminpw, github pat, gitlab pat, pat token, ccv, cc expiry, cc expiration, pin nummer, tannummer, pwd, pswd, psw, pword, pw, mdp, cvv, cvv2, cvc, cvc2, otp, totp, hotp, mfa code, 2fa code, tfa code, 2fa, jwt, ssn, iban, pan number, sort code, cc number, ccnumber, ccnum, cc num, cc no, cc cvc, cc cvv, " +
      "cc exp, card no, card num, card pan, card code, card pin, card expiry, card expiration, card exp, card security, card verification, payment card, bank card, " +
      "pesel, bsn, puk, pin code, pin number, pin no, pincode, upi pin, tan nummer, authtoken, privkey, secretkey, openai key, anthropic key, stripe key, aws access key id, access key id",
  ],
  last: [
    "token, secret, pin, pass, bearer, mnemonic, access pass, clave, sifre, api key, ssh key, pem key, keystore",
    "токен, пин, ключ шифрования, トークン, シークレット, 令牌, 權杖, 토큰, 핀번호, टोकन, पिन, رمز سري, jeton, gettone",
  ],
};

/**
 * Behind a secret's name, these make it something else: a property of the secret, or a thing around it. English nouns
 * come last.
 */
export const PROPERTIES =
  "count, counts, counter, limit, limits, length, len, size, policy, policies, type, types, kind, name, names, label, title, id, ids, identifier, index, expiry, expires, expiration, expire, " +
  "ttl, lifetime, age, rotation, rotate, rotated, days, date, strength, score, hint, hints, manager, reset, resets, recovery, change, changes, changed, updated, update, history, rule, rules, " +
  "requirement, requirements, complexity, format, formats, pattern, regex, scope, scopes, status, state, version, versions, path, url, uri, endpoint, location, store, storage, engine, vault, " +
  "backend, provider, providers, issuer, source, budget, usage, price, prices, cost, symbol, standard, contract, address, supply, decimals, color, colour, icon, image, logo, brand, network, " +
  "layout, game, text, holder, holders, owner, service, server, method, methods, channel, option, options, setting, settings, config, enabled, required, needed, allowed, supported, visible, " +
  "min, max, minimum, maximum, display, generator, generation, field, fields, prompt, algorithm, hashing, rate, per, message, template, language, description, note, notes, comment, reference, " +
  "tier, plan, list, group, role, permissions, permission, less, protected, free, based, santa, was, is, will, be, has, have, should, can, may, must, were, are, needs, authentication, country, " +
  "verfahren, sein, city, bank, contact, question, chiave, arn, arns, configuration, parameter, parameters, metadata, details, detail, flag, flags, attribute, attributes, prefix, only, validity, created, param, params, risk, encryption, map, spec, specs, connection, grant, grants, properties, property, selection, expression, authorizer, trust, duration, seconds, minutes, alias, plan, preference, preferences, category, rotates, exists, present, valid, works, position, order, total, number of, questions, category, tag, tags, " +
  "länge, laenge, richtlinie, stärke, staerke, ablauf, hinweis, regel, regeln, anzahl, art, farbe, typ, ändern, lengte, sterkte, beleid, naam, kleur, aantal, uzunlugu, sayisi, adi, turu, politikasi, " +
  "の長さ, 長さ, の種類, 数, の数, 有効期限, 管理, 强度, 長度, 长度, 数量, 类型, 策略, 学, 管理器, 有效期, 길이, 화, 수, 정책, 종류, 만료, की लंबाई, की संख्या";

/** Before a secret's name, these do the same: what is had of it or done to it. Little words may stand between. */
export const OF =
  "length, name, names, count, type, kind, format, age, lifetime, expiry, policy, strength, location, path, id, list, amount, " +
  "receive, receives, delete, deletes, manage, managed, manages, encrypt, encrypts, validate, add, return, returns, existing, revoke, revoked, remove, rotate, regenerate, generate, reset, forgot, forgotten, lost, change, show, hide, reveal, mask, use, uses, enable, disable, require, requires, " +
  "required, allow, min, max, minimum, maximum, last, num, no, not, never, without, public, encrypted, hashed, top, " +
  "länge, name, art, anzahl, kein, keine, ohne, longueur, nom, nombre, type, politique, durée, sans, longitud, cantidad, tipo, política, sin, comprimento, quantidade, sem, lunghezza, numero dei, senza, " +
  "aantal, naam, zonder, długość, liczba, bez, nazwa, длина, количество, число, имя, тип, срок, без, طول, عدد, نوع, اسم";

/** Right before a secret's name these make a yes-or-no of it. */
export const WHETHER = "is, has, have, had, was, are, with";

/** A few words before a secret's name: it is not asked for, it is warned of. */
export const NOT =
  "not, never, no, don, dont, without, instead, nicht, nie, niemals, kein, keine, keinen, ne, pas, jamais, sans, nunca, jamás, não, sem, non, mai, senza, niet, geen, nooit, zonder, nigdy, bez, не, никогда";

/** What a long clause has that asks its reader to put something in. Clauses in scripts without spaces need none. */
export const ASKING =
  "enter, re, reenter, type, typing, provide, paste, give, input, supply, submit, share, tell, send, confirm, insert, write, put, need, needs, require, requires, what, fill, set, choose, pick, create, repeat, " +
  "copy, verify, specify, please, eingeben, ein, gib, geben, nennen, nenne, einfügen, bitte, bestätigen, entrez, entrer, saisissez, saisir, indiquez, fournissez, donnez, collez, confirmez, veuillez, " +
  "introduzca, introduce, introducir, ingrese, ingresa, ingresar, escriba, escribe, proporcione, proporciona, indique, pegue, confirme, confirma, digite, insira, informe, forneça, introduza, cole, " +
  "inserisci, inserire, immetti, digita, fornisci, incolla, conferma, voer, vul, geef, plak, bevestig, wpisz, podaj, wprowadź, wklej, proszę, girin, giriniz, yazın, gir, yapıştırın";

/** Those of them that say no more than to type, with more of other scripts. */
export const TYPING =
  "enter, reenter, type, typing, paste, input, insert, fill, eingeben, einfügen, gib, entrez, entrer, saisissez, saisir, collez, introduzca, introduce, introducir, ingrese, ingresa, ingresar, " +
  "escriba, escribe, pegue, digite, insira, introduza, cole, inserisci, inserire, immetti, digita, incolla, voer, vul, plak, wpisz, wprowadź, wklej, girin, giriniz, gir, yazın, yapıştırın, " +
  "введите, введи, ввести, впишите, вставьте, укажите";

/** The same where words stand without spaces, or take other endings. */
export const TYPING_INSIDE = "输入, 輸入, 填写, 填寫, 入力, 입력, ادخل, اكتب, दर्ज";

/** Before a token, a pin, a pass or a card number: what makes it none of the secret kind. */
export const HARMLESS_KINDS =
  "request, sequence, lock, creation, execute, export, import, update, updated, starting, job, task, workflow, result, retrieval, checkpoint, conditional, block, forward, backward, chunk, message, poll, offer, preview, profile, provision, purchase, view, term, unique, policy, portfolio, anomaly, action, event, configuration, ballot, slot, queue, client, version, service, event source, idempotency, concurrency, dns, billing, page, next page, previous page, continuation, cursor, pagination, sync, progress, stop, start, end, pad, padding, eos, bos, unk, mask, design, prompt, completion, input, output, total, used, crypto, " +
  "governance, utility, erc20, game, board, boarding, season, bus, train, ski, day, ticket, test, mountain, first, second, multi, single, map, location, drop, gpio, led, push, bowling, rolling, " +
  "safety, hair, tie, lapel, library, membership, member, loyalty, rewards, business, student, trading, id, all, pick, palabra, palabras, resume, list, change, watch, tour, hall, backstage, visitor";

/** Behind `to`: what is done with a secret that is there already. */
export const HANDLING =
  "revoke, delete, remove, rotate, rename, edit, create, generate, list, show, hide, manage, expire, renew, disable, enable, keep, copy, move, share";

/** Between a property and its secret. */
export const LITTLE =
  "of, the, a, an, your, my, our, this, that, for, to, any, new, old, current, des, der, die, das, dem, den, deines, ihres, ihr, dein, de, du, d, la, le, les, votre, ton, del, el, los, las, su, tu, da, do, " +
  "dos, das, sua, di, della, dei, il, lo, tua, van, het, een, je, uw, s";

/** Behind a secret's name, these go on with a sentence that asks for it, so that it is the last word all the same. */
export const GOES_ON =
  "of, for, from, to, in, on, at, with, here, below, again, please, and, or, value, string, confirmation, confirm, repeat, new, old, current, used, by, if, you, we, code, number, no, " +
  "für, aus, von, hier, ein, wiederholen, bitte, eingeben, pour, de, du, para, da, do, per, del, voor, dla, için, girin, が, を, を入力, を入力してください, की, दर्ज, 입력, 을, 를";
