/**
 * What stands around the words for secrets (secret-words.ts) and tells what is meant by them. Lists of words in the
 * languages people name fields in; accents, case, spaces and hyphens do not matter.
 */

/**
 * Behind a secret's name, these make it something else: a property of the secret, or a thing around it. English nouns
 * come last.
 */
export const PROPERTIES =
  "count, counts, counter, limit, limits, length, len, size, policy, policies, type, types, kind, name, names, label, title, id, ids, identifier, index, expiry, expires, expiration, expire, " +
  "ttl, lifetime, age, rotation, rotate, rotated, days, date, strength, score, hint, hints, manager, reset, resets, recovery, change, changes, changed, updated, update, history, rule, rules, " +
  "requirement, requirements, complexity, format, formats, pattern, regex, scope, scopes, status, state, version, versions, path, url, uri, endpoint, location, store, storage, engine, vault, " +
  "backend, provider, providers, issuer, source, budget, usage, price, prices, cost, symbol, standard, contract, address, supply, decimals, color, colour, icon, image, logo, brand, network, " +
  "layout, game, text, holder, holders, owner, service, server, method, methods, channel, option, options, setting, settings, config, enabled, visible, " +
  "min, max, minimum, maximum, display, generator, generation, field, fields, prompt, algorithm, hashing, rate, per, message, template, language, description, note, notes, comment, reference, " +
  "tier, plan, list, group, role, permissions, permission, environment, env, region, zone, currency, currencies, percent, percentage, fee, fees, feature, features, benefit, benefits, office, helper, charge, charges, surcharge, report, reports, skew, leeway, tolerance, bits, bytes, chars, characters, digits, audience, claim, claims, subject, check, checks, result, results, context, cluster, namespace, topic, comment, topics, less, protected, free, based, santa, authentication, country, " +
  "verfahren, sein, city, bank, contact, question, chiave, arn, arns, configuration, parameter, parameters, metadata, details, detail, flag, flags, attribute, attributes, prefix, only, validity, created, param, params, risk, encryption, map, spec, specs, connection, grant, grants, properties, property, selection, expression, authorizer, trust, duration, seconds, minutes, alias, plan, preference, preferences, category, rotates, position, order, total, number of, questions, category, tag, tags, " +
  "datum, dauer, gültigkeit, wechsel, änderung, zurücksetzen, verwaltung, pflicht, erforderlich, notwendig, vorhanden, aktiv, geldigheid, verplicht, vervaldatum, wijzigen, beheer, " +
  "obligatoire, requis, requise, expire, expiré, expirée, politique, longueur, obligatorio, obligatoria, requerido, requerida, caduca, caducada, obrigatorio, obrigatoria, expira, expirada, forte, obbligatorio, obbligatoria, richiesto, richiesta, scaduta, scaduto, scade, " +
  "wymagane, wymagany, wygasa, reklamowe, przewodnie, wyborcze, обязателен, обязательно, истек, истекает, действует, zorunlu, gerekli, politikası, süresi, geçerlilik, uzunluğu, sayısı, türü, değişikliği, " +
  "länge, laenge, richtlinie, stärke, staerke, ablauf, hinweis, regel, regeln, anzahl, art, farbe, typ, ändern, lengte, sterkte, beleid, naam, kleur, aantal, uzunlugu, sayisi, adi, turu, politikasi, " +
  "की लंबाई, की संख्या, की नीति";

/** More than one: behind `for` or `of` it is what people have in general, as in `rules for passwords`. */
export const SEVERAL =
  /^(?:passwords|passphrases|passworter[ns]?|kennworter[ns]?|wachtwoorden|contrasenas|senhas|motsdepasse|tokens|secrets|hasel|паролеи|şifreler)$/;
export const IN_GENERAL = "for, of, about, für, von, der, voor, de, para, per, dla, для";

/** Properties in other languages, that stand on both sides. */
export const PROPERTIES_ABROAD =
  "anzahl, größe, komplexität, anforderung, anforderungen, vorgabe, vorgaben, gültigkeitsdauer, laufzeit, bezeichnung, zeichen, mindestlänge, mindestanzahl, historie, " +
  "aantal, grootte, complexiteit, regels, eisen, vereisten, vervaldatum, geldigheid, geldigheidsduur, wijziging, soort, tekens, " +
  "nombre, longueur, taille, robustesse, complexité, politique, règle, règles, exigence, exigences, validité, durée, changement, réinitialisation, libellé, gestion, gestionnaire, caractères, historique, " +
  "cantidad, longitud, tamaño, fortaleza, complejidad, política, regla, reglas, requisito, requisitos, caducidad, vencimiento, vigencia, validez, duración, cambio, restablecimiento, tipo, formato, gestor, caracteres, historial, " +
  "quantidade, comprimento, tamanho, força, complexidade, regra, regras, expiração, validade, duração, troca, alteração, redefinição, nome, gerenciador, histórico, " +
  "quantità, lunghezza, dimensione, robustezza, complessità, politica, regola, regole, requisiti, scadenza, validità, durata, modifica, reimpostazione, gestione, gestore, storico, caratteri, " +
  "liczba, ilość, długość, rozmiar, siła, złożoność, polityka, zasady, wymagania, wygaśnięcie, ważność, okres, zmiana, zmiany, rodzaj, nazwa, znaków, menedżer, " +
  "количество, число, длина, размер, надежность, сложность, политика, правила, требования, срок, действия, истечение, смена, изменение, сброс, тип, вид, имя, название, формат, символов, история, менеджер, " +
  "sayısı, uzunluğu, boyutu, gücü, karmaşıklığı, politikası, kuralları, gereksinimleri, süresi, geçerlilik, değişikliği, değiştirme, sıfırlama, türü, adı, biçimi, yöneticisi";

/** Behind a secret's name, these only speak of it. */
export const SPEAKING =
  "was, is, will, be, has, have, should, can, may, must, were, are, needs, required, needed, allowed, supported, exists, present, valid, works";

/** Properties, in what follows in scripts without spaces. */
export const PROPERTIES_EAST =
  "長さ, 種類, 数, 個数, 本数, 有効期限, 期限, 期間, 管理, 上限, 下限, 制限, 強度, 変更日, 更新, ポリシー, 要件, 設定, 名, 名前, 方式, 形式, 一覧, 残, 消費, 使用量, 単価, 価格, 发行, 复杂, 複雑, 복잡, 周期, 주기, 履歴, 历史, 이력, 强度, 長度, 长度, 数量, 数目, 总数, 类型, 類型, 策略, 政策, 学, 管理器, 有效期, 过期, 失效, 到期, 规则, 规范, 要求, 名称, 名稱, 标签, " +
  "价格, 用量, 消耗, 上限, 限制, 额度, 预算, 重置, 找回, 修改, 更换, 길이, 화, 수, 개수, 정책, 종류, 만료, 유효, 한도, 제한, 규칙, 변경, 재설정, 관리, 이름, 방식, 형식, 강도, 사용량, 가격";

/** Before a secret's name, these do the same: what is had of it or done to it. Little words may stand between. */
export const OF =
  "length, name, names, count, type, kind, format, age, lifetime, expiry, policy, strength, location, path, id, list, amount, " +
  "receive, receives, delete, deletes, manage, managed, manages, encrypt, encrypts, validate, add, return, returns, existing, revoke, revoked, remove, rotate, regenerate, generate, reset, forgot, forgotten, lost, change, show, hide, reveal, mask, use, uses, enable, disable, require, requires, " +
  "required, allow, min, max, minimum, maximum, last, num, no, not, never, without, public, encrypted, hashed, top, " +
  "about, regarding, concerning, über, betreffend, sur, concernant, sobre, acerca, over, о, об, enrollment, enrolment, characters, chars, zeichen, caractères, caracteres, caratteri, tekens, znaków, символов, karakter, wechsel, änderung, ablauf, gültigkeit, richtlinie, laufzeit, date, expiration, validité, fecha, caducidad, validade, data, scadenza, ważność, ważności, polityka, wymagania, zmiana, zmiany, rotacja, geldigheid, vervaldatum, политика, политики, действия, требования, сложность, смена, смены, изменения, сброс, истечения, " +
  "länge, name, art, anzahl, kein, keine, ohne, longueur, nom, nombre, type, politique, durée, sans, longitud, cantidad, tipo, política, sin, comprimento, quantidade, sem, lunghezza, numero dei, senza, " +
  "aantal, naam, zonder, długość, liczba, bez, nazwa, длина, количество, число, имя, тип, срок, без, طول, عدد, نوع, اسم";

/** Right before a secret's name these make a yes-or-no of it. */
export const WHETHER = "is, has, have, had, was, are, with";

/** A few words before a secret's name: it is not asked for, it is warned of. */
export const NOT =
  "not, never, no, don, dont, without, instead, nicht, nie, niemals, kein, keine, keinen, ne, pas, jamais, sans, nunca, jamás, não, sem, non, mai, senza, niet, geen, nooit, zonder, nigdy, bez, не, никогда";

/** What a long clause has that asks its reader to put something in. Clauses in scripts without spaces need none. */
export const ASKING =
  "enter, re, reenter, type, typing, provide, wat, lautet, quel, quelle, cuál, qual, jaki, jakie, paste, give, input, supply, submit, share, tell, send, confirm, insert, write, put, need, needs, require, requires, what, fill, set, choose, pick, create, repeat, " +
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
  "which, welcher, welche, welches, gate, guest, weekend, festival, press, standard, torch, pall, cup, lanyard, enamel, clevis, cotter, header, connector, pinout, " +
  "request, sequence, lock, creation, execute, export, import, update, updated, starting, job, task, workflow, result, retrieval, checkpoint, conditional, block, forward, backward, chunk, message, poll, offer, preview, profile, provision, purchase, view, term, unique, policy, portfolio, anomaly, action, event, configuration, ballot, slot, queue, client, version, service, event source, idempotency, concurrency, dns, billing, page, next page, previous page, continuation, cursor, pagination, sync, progress, stop, start, end, pad, padding, eos, bos, unk, mask, design, prompt, completion, input, output, total, used, crypto, " +
  "governance, utility, erc20, game, board, boarding, season, bus, train, ski, day, ticket, test, mountain, first, second, multi, single, map, location, drop, gpio, led, push, bowling, rolling, " +
  "safety, hair, tie, lapel, library, membership, member, loyalty, rewards, business, student, trading, id, all, pick, palabra, palabras, resume, list, change, watch, tour, hall, backstage, visitor";

/** Behind `to`: what is done with a secret that is there already. */
export const HANDLING =
  "revoke, delete, remove, rotate, rename, edit, create, generate, list, show, hide, manage, expire, renew, disable, enable, keep, copy, move, share";

/** Between a property and its secret. */
export const LITTLE =
  "dotyczące, do, к, для, от, in, im, dans, en, em, nel, nella, w, в, of, the, a, an, your, my, our, this, that, for, to, any, new, old, current, des, der, die, das, dem, den, deines, ihres, ihr, dein, de, du, d, la, le, les, votre, ton, del, el, los, las, su, tu, da, do, " +
  "dos, das, sua, di, della, dei, il, lo, tua, van, het, een, je, uw, s";

/** Behind a secret's name, these go on with a sentence that asks for it, so that it is the last word all the same. */
export const GOES_ON =
  "della, dell, der, des, van, of, for, from, to, in, on, at, with, here, below, again, please, and, or, value, string, confirmation, confirm, repeat, new, old, current, used, by, if, you, we, code, number, no, " +
  "für, aus, von, hier, ein, wiederholen, bitte, eingeben, pour, de, du, para, da, do, per, del, voor, dla, için, girin, が, を, を入力, を入力してください, की, दर्ज, 입력, 을, 를";

/** Before credentials: what a person has learnt, or is let in with. */
export const NO_CREDENTIALS =
  "academic, professional, teaching, medical, educational, nursing, clinical, verifiable, media, press, industry, degree";

/** Ends of words of German and Dutch that are put together: `Passwort-Ablaufdatum`. */
export const PROPERTY_ENDS =
  /(?:datum|dauer|lange|laenge|richtlinie|regeln?|typ|anzahl|hinweis|anderung|aenderung|lengte|beleid|termijn)$/;

/** At the start of a clause: what follows is asked of the reader. */
export const YOURS =
  "your, dein, deine, ihr, ihre, votre, ton, ta, su, tu, seu, sua, tua, tuo, uw, je, jouw, twoje, twój";

/** In a question before a secret's name: it asks for a number, a place, a time or a way. */
export const HOW =
  "where, when, wo, wann, où, quand, dónde, cuándo, onde, quando, dove, waar, wanneer, gdzie, kiedy, где, когда, nerede, " +
  "how, how many, how long, how often, wieviel, wieviele, wie viele, wie lang, wie lange, wie oft, combien, cuántos, cuántas, cuánto, quantos, quantas, quanto, quanti, quante, hoeveel, hoelang, hoe lang, ilu, сколько, kaç";

/** What may stand beside a word that counts alone: whose it is, how new, what to do with it; beside what asks and what goes on. */
export const BESIDE =
  "user, username, database, db, root, admin, administrator, master, login, ssh, ftp, sftp, smtp, imap, pop, mail, email, ldap, sql, mysql, mariadb, postgres, pg, oracle, mongo, redis, rabbit, wifi, wlan, vpn, rdp, sudo, proxy, router, server, host, account, app, " +
  "key, cert, certificate, keystore, truststore, jks, vault, api, bank, card, banking, online, sms, again, second, first, confirmation, actual, nueva, nuevo, vieja, anterior, repetir, repita, confirmar, personal, usuario, administrador, correo, cuenta, tarjeta, banco, acceso, seguridad, red";

/** What makes the code of a place of `pin code`: it is a postal one, as in India. */
export const POSTAL =
  "postal, zip, delivery, shipping, address, addr, area, district, city, town, village, state, india, indian, locality, landmark, street, serviceable, pickup, warehouse, region, location";

/** Of an order, a number or a list, not of a secret: `code of conduct`, `number of hops`. */
export const CODE_OF = /(?:code|codes|number|numbers)$/;

/** Words for what is sent once, and what it comes by; both in one clause that asks. */
export const SENT =
  "code, codes, digits, código, codigo, dígitos, codice, cifre, ziffern, chiffres, cijfers, kod, kodu, kodunu, cyfry, код, коды, цифры";
export const SENT_BY =
  "sms, mms, text message, textmessage, texted, authenticator, authenticator app, smss, смс, authentifizierungs app, authentificateur, autenticador, autenticatore";
/** What a clause says that does not ask and means it all the same. */
export const RECEIVED =
  "received, receive, got, sent, shown, erhalten, erhielten, reçu, recibido, recibiste, recebeu, recebido, ricevuto, ontvangen, otrzymany, aldığınız";
export const SENT_EAST =
  /(?:認証アプリ|sms|ショートメッセージ|短信|認證器|验证器|문자|인증앱).{0,24}(?:コード|数字|代码|代碼|数字|코드|번호|숫자)/u;

/** Before `code`: none that is sent to let somebody in. */
export const OTHER_CODES =
  "promo, promotion, discount, voucher, coupon, referral, offer, campaign, booking, tracking, order, product, error, status, country, calling, dialling, zip, postal, post, area, language, source, dress, color";
