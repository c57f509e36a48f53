/**
 * What secrets are called: passwords, keys, tokens, one-time codes, payment data, and what stands for a person at a
 * bank or an authority. In the languages people name fields in; accents, case, spaces and hyphens do not matter.
 * Source: MCP 2026-07-28, elicitation, safety.
 */

/**
 * How a word is found. `anywhere`: also inside a longer word. `open`: at the start of a word, which may go on by an
 * ending. `whole`: a whole word. `last`: like that, and it only counts where nothing follows that it would be a
 * property of. `alone`: like that, and with nothing around it but whose it is, how new it is, and to enter it.
 */
export type Manner = "anywhere" | "open" | "whole" | "last" | "alone";

/** Those whose keys and tokens people copy from a page of theirs. */
const VENDORS =
  "openai|anthropic|claude|gemini|mistral|cohere|groq|deepseek|openrouter|perplexity|tavily|serpapi|huggingface|replicate|elevenlabs|pinecone|langsmith|sendgrid|mailgun|mailchimp|postmark|" +
  "twilio|stripe|paypal|adyen|braintree|datadog|newrelic|pagerduty|algolia|supabase|firebase|cloudflare|vercel|netlify|heroku|digitalocean|azure|aws|gcp|mapbox|googlemaps|openweather|" +
  "binance|kraken|coinbase|alchemy|infura|etherscan|telegram|discord|npm|pypi|dockerhub|airtable|notion";

/** Manner → words, one list for each language or group of languages; `a|b` are two words that mean the same there. */
export const SECRETS: Readonly<Record<Manner, readonly string[]>> = {
  anywhere: [
    // English, and what others borrow from it
    "password, passwd, passphrase, pass code, apikey, api secret, api token, secret key, secret access key, private key, access token, " +
      "auth token, oauth token, refresh token, bearer token, session token, security token, client secret, credit card, debit card, card number, cvv code, " +
      "social security number, seed phrase, recovery phrase, one time password, one time code, connection string, url|uri|dsn|link with creds|credentials|password|token, encryption key, credentials",
    // German, Dutch, Scandinavian
    "passwort, kennwort, zugangsdaten, anmeldedaten, geheimzahl, geheimcode, kreditkarte, kartennummer, kontonummer, bankverbindung, einmalcode, einmalpasswort, " +
      "zugriffsschlüssel, zugangscode, zugriffstoken, zugangstoken, sicherheitscode, bestätigungscode, kartenprüfnummer, sozialversicherungsnummer",
    "wachtwoord, wachtzin, toegangscode, toegangstoken, toegangssleutel, creditcardnummer, kaartnummer, beveiligingscode, verificatiecode, inloggegevens, " +
      "rekeningnummer, burgerservicenummer, privésleutel",
    "lösenord, adgangskode, kodeord, passord, salasana, heslo, jelszó, zaporka, lozinka",
    // Romance
    "mot de passe, phrase de passe, phrase secrète, clé privée, clé secrète, clé d'api, clé api, clé d'accès, jeton d'accès, jeton accès, code confidentiel, carte bancaire, " +
      "carte de crédit, carte bleue, numéro de carte, numéro de la carte, cryptogramme visuel, identifiants de connexion, numéro de sécurité sociale",
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
    "restricted key, private|secret spend|view|ssh|signing|rsa|pgp|gpg|stripe|host|wallet|tls|ssl|account|deploy key, amex|mastercard|maestro number, card digits, answer to|to_the|to_your security|secret question, bearer auth, door|gate|alarm|safe|locker|lockbox|garage code|combination, bank|banking login|credentials|details, service|service_role key, tls|ssl client|server key, sk|rk live|test key, auth bearer, wallet|metamask|ledger|trezor|recovery|backup seed|phrase, " +
      "credential, creds, pin code, pincode, id token, digit code, json key, card expiry date, card expiration date, card exp date, expiry date of your card, security question answer, mnemonic phrase, mnemonic words, mnemonic seed, recovery code, backup code, security code, verification code, authenticator code, authentication code, authorization code, security answer, security|secret question answer|reply|response, answer security|secret question, auth|authentication|verification|login|passcode digits, " +
      "two|2 factor|fa|step code|token|pin|password, twofa|mfa|tfa code|token|pin, sms|phone|device verification|confirmation, sms|phone confirmation code, confirmation code sms, auth code, verify|verification code, recovery|seed|backup|secret|mnemonic words, " +
      "primary account number, card|cards expiry, social insurance number, national insurance number, bank account number, aba routing, aba number, mothers|mother maiden, mothers|mother maiden name, unseal key, pre shared key, app specific password, " +
      "secret answer, maiden name, bank account, routing number, account key, license key, licence key, activation key, product key, access key, signing key, signature key, master key, " +
      "deploy key, shared key, symmetric key, decryption key, hmac key, service account key, subscription key, consumer key, auth key, app key, application key, account number of your bank, " +
      "webhook secret, app secret, consumer secret, secret value, secret string, secret phrase, secret word, secret code, secret token, secret recovery, basic auth, authorization header, " +
      "session cookie, wallet key, wallet seed, recovery key, wpa key, wifi key, network key, admin key, root key, unlock code, access code, login code, sms code, passkey secret",
    "wiederherstellungs|backup|sicherungs|entsperr code|codes|schlüssel|phrase, code der karte, pin der|ihrer karte, sozialvers|ahv nummer|nr, freischaltcode, freischaltschlüssel, entsperrmuster, pin der karte, ablaufdatum|gültigkeit der|ihrer karte|kreditkarte, antwort sicherheitsfrage, sicherheitsfrage antwort, antwort auf sicherheitsfrage, wlan|wifi|netzwerk|api|bot|verschlüsselungs schlüssel|schluessel|token, " +
      "geheimschlüssel, privatschlüssel, geheimnis, geheimwort, zugangsschlüssel, zugangsschluessel, entsperrcode, geheimer schlüssel, geheimer schluessel, geheimen schlüssel, privater schlüssel, privater schluessel, privaten schlüssel, api schlüssel, api schluessel, lizenzschlüssel, " +
      "herstel code|codes|zin, code van_je|van_de kaart|pas, bankgegevens, prüfziffer, geheime|geheim sleutel|code|woord|zin, api|wifi|netwerk|versleutelings|encryptie sleutel, api|bot|toegangs token, pincode",
    "code de_récupération|de_secours, code de_la|de_votre carte, identifiants|coordonnées bancaires, clé|clef de chiffrement|cryptage|déchiffrement|wifi|signature|licence, jeton|token api|d'api|d'authentification|authentification|bot|d'accès, réponse secrète|de_sécurité, réponse question secrète, question secrète réponse, code sms|otp|d'accès, date d'expiration de|de_la|de_votre carte, expiration carte, phrase de_récupération|de récupération, code reçu par sms, numéro d'assurance_sociale, numéro avs",
    "clave|llave privada|secreta|api|wifi|wi_fi|de_red|de_acceso|acceso|de_cifrado|cifrado|del_wifi|de_la_tarjeta|tarjeta|de_usuario|usuario|bancaria|del_banco|del_router, token api|bot|del_bot|de_acceso|de_autenticación|autenticación, frase|palabras semilla|de_recuperación|recuperación, respuesta secreta|de_seguridad|seguridad, pregunta secreta|de_seguridad respuesta, " +
      "código de_recuperación|de_respaldo, código de_la|de_tu tarjeta, datos bancarios, código de_acceso|sms|otp|acceso, caducidad|vencimiento de_la|de_su|de_tu tarjeta, número de cuenta_bancaria|cuenta_del_banco, cuenta bancaria",
    "código de_recuperação, código do cartão, dados bancários, chave de_criptografia|wifi|da_api|de_rede|pix_secreta, token api|bot|do_bot|da_api|de_autenticação, frase|palavras semente|secreta|de_recuperação, resposta secreta|de_segurança, pergunta secreta|de_segurança resposta, código de_acesso|sms|otp|acesso|do_sms, validade do|do_seu cartão, conta bancária",
    "codice di_recupero|di_backup, codice|pin della carta, numero conto|di_conto corrente|bancario, coordinate bancarie, chiave di_cifratura|di_crittografia|wifi|di_rete|dell'api, token|gettone api|bot|del_bot|di_autenticazione|accesso, frase|parole di_recupero|recupero|seme, risposta segreta|di_sicurezza, domanda segreta|di_sicurezza risposta, codice di_accesso|accesso|sms|via_sms, scadenza della carta_di_credito, conto bancario",
    "kod blik, kod zapasowy|odzyskiwania, dane bankowe, klucz szyfrowania|wifi|sieciowy|dostępowy, token api|bota|uwierzytelniający, kod sms|z_sms|z_smsa|dostępu|cvv|cvc|jednorazowy|autoryzacyjny, numer konta_bankowego|rachunku_bankowego|rachunku, fraza|frazy|słowa odzyskiwania|seed, odpowiedź na_pytanie_bezpieczeństwa|na_pytanie_pomocnicze, tajny|sekretny kod|hasło, data ważności_karty",
    "kart|kredi_kartı|hesap numara, kurtarma kodu, sms ile_gelen kod|kodu, gizli|güvenlik|erişim|doğrulama|onay kod|kodu|kelime|sorunun_cevabı|sorusu_cevabı, sms|cvv|cvc|pin|otp kodu|kodunu|kodunuz, kart no|şifresi|pini|son_kullanma, hesap|banka_hesap numarası|no|numaranız, wifi|ağ|şifreleme anahtarı, bot|api tokeni|tokenı|belirteci, kurtarma ifadesi|kelimeleri",
    "код восстановления, резервный код, пин карты, банковские реквизиты, код из|с|от смс|sms|приложения|письма, смс|sms|cvv|cvc код, токен бота|api|доступа|авторизации, ключ шифрования|бота|wifi, сид|секретная|резервная фраза, секретное|секретные|кодовое слово|слова, срок действия карты|вашей_карты, номер банковского счета, номер расчетного счета, ответ на секретный|контрольный вопрос, код подтверждения",
    "cryptogramme, code secret, code de sécurité, code de vérification, code pin, codice pin, código pin, codice otp, senha, hasło, hasła, şifre, parola, parolanız",
    "секрет, снилс, инн карты, कार्ड पिन",
  ],
  whole: [
    "userpass, usrpass, dbpass, rootpass, rootpw, userpw, dbpw, adminpw, github pat, gitlab pat, pat token, ccv, cc expiry, cc expiration, pin nummer, tannummer, pwd, pswd, psswd, paswd, passd, psw, pword, pw, mdp, cvv, cvv2, cvc, cvc2, otp, totp, hotp, mfa code, 2fa code, tfa code, 2fa, jwt, ssn, iban, pan number, sort code, cc number, ccnumber, ccnum, cc num, cc no, cc cvc, cc cvv, " +
      "cc exp, card no, card num, card pan, card code, card pin, card valid thru, expiry on card, card expiry, card expiration, card exp, card security, card verification, payment card, bank card, " +
      "pesel, bsn, puk, pin number, pin no, upi pin, tan nummer, authtoken, privkey, secretkey, aws access key id, access key id",
    "m|t|u|atm|upi pin",
    `github|gitlab|gh|bitbucket|confluence|jira|devops|azure_devops|${VENDORS} pat`,
    "user|usr|root|admin|db|master|my|login|wifi|wlan|mail|ftp|smtp|imap|sql|sudo|ssh|vpn|old|new pass|pw|pwd|psw",
    "id rsa, id ecdsa, id ed25519, kubeconfig, service account json, phpsessid, jsessionid, aspsessionid, session id cookie, cookie header, authorization cookie, nino, aadhaar, aadhar, ssn last, cvv2cvc2",
    "m|i|sms|photo|push|chip|mobile tan, tan code|nr|eingabe, karten|konto nr, kreditkarten nr",
    "pin|pins bancomat|secreto|segreto|secret|tarjeta|cartão|carta|carte|karte|kaart|karty|karta|bancaire|bancario|banque|banco|cajero",
  ],
  last: [
    "token, secret, pin, mnemonic, access pass, sifre, api key, ssh key, pem key, keystore, social security, sécurité sociale",
    `${VENDORS} key|apikey, jeton|token|clé|clave|llave|chave|chiave|klucz|токен|ключ github|gitlab|${VENDORS}, aes|rsa|des|ecdsa|ed25519|hmac|tls|ssl|pgp|gpg|wep|wpa|wlan|wi_fi|cipher|crypto|vault|azure_storage|storage_access key, ssl|tls|rsa key pem, sk key`,
    "apiトークン, apiシークレット, クレカ番号, クレカの番号, ボットトークン, 暗号化キー, 暗号鍵, 秘密の質問の答え, 秘密の答え, リカバリーフレーズ, 復元フレーズ, カードの有効期限, カード有効期限, 动态码, 短信码, 短信代码, 卡有效期, 令牌密钥, 시크릿키, api토큰, 봇토큰, 암호화키, 복구구문, 복구코드, 시크릿, リカバリーコード, 復旧コード, 恢复代码, 恢复码, 备用码, 備用碼, 카드유효기간, 일회용코드",
    "токен, пин, ключ шифрования, トークン, シークレット, 令牌, 權杖, 토큰, 핀번호, टोकन, पिन, رمز سري, jeton, gettone",
  ],
  alone: ["pass, bearer, clave, tan, pan, psk, pem, rib, csc"],
};
