/**
 * Links in texts that a person reads, also such as an app would only make clickable by itself, or a person would have
 * to mend first. Linear in the text. Source: MCP 2026-07-28, elicitation in form mode (no clickable addresses in
 * forms).
 */

import { remembered } from "../remembered.ts";
import { composed, isTooLong } from "./reading.ts";

/** How a link was written; never the link. */
export type LinkKind = "scheme" | "markdown" | "html" | "domain" | "address" | "unread";

/** Dots as others write them, and as people write them who do not want a filter to see one. */
const DOTS = /[。．｡․]|\s?[[({]\s?(?:\.|dot|punkt|точка)\s?[\])}]\s?/giu;
const SCHEME =
  /(?<![a-z0-9+.-])(?:(?:https?|hxxps?|h[tx]{2}ps?|ftps?|wss?|file|ssh|git|ipfs|intent|market|tg|whatsapp|vscode|slack|steam):\/{1,3}|(?:javascript|vbscript|data|mailto|tel|sms|blob|magnet|bitcoin|ethereum|facetime|view-source):)[^\s]/i;
const MARKDOWN = /\]\(\s{0,8}[^\s)]|\]:\s{0,8}(?:<|[a-z]{2,12}:|\/\/)|<[a-z][a-z0-9+.-]{1,15}:[^\s>]/i;
const HTML = /<(?:a|area|form|iframe|base|link|meta|object|embed|img|svg|script)(?=[\s/>])/i;
const DOMAIN =
  /(?<![\p{L}\p{N}@_./\\-])(?:www\.|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8})(?<top>xn--[a-z0-9-]{2,59}|\p{L}{2,24})(?![\p{L}\p{N}_@-])(?<behind>[:/?#]\S)?/giu;
const IPV4 =
  /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5})?\/(?!\d{1,2}(?!\d))\S/;
const PROTOCOL_RELATIVE = /(?<![:\w/])\/\/[\p{L}\p{N}-]{1,63}\.[\p{L}]{2}/u;

/** Top-level domains that texts rarely hold for another reason. */
const TOPS: ReadonlySet<string> = new Set(
  (
    "com org net edu gov mil int info biz io ai app dev xyz top site online store shop club live life world today email cloud tech tools space website blog news wiki page web link click " +
    "eu de fr uk it es pt nl be ch at se no dk fi ie cz hu ro bg gr hr rs si sk ua ru su kz tr il ae sa ir in pk bd lk np cn hk tw jp kr sg my id th vn ph au nz ca us mx br ar cl co pe ve za ng ke eg ma " +
    "me tv fm gg ly gl to ws cc tk ml ga cf gq pw icu vip work fun win bid loan men date trade stream download review finance bank pay capital money credit support help center services solutions " +
    "agency studio design digital media group company network systems social chat video game games casino bet poker onion example test рф укр 中国 中國 香港 公司 网络 한국 भारत السعودية امارات"
  ).split(" "),
);
/** Among those, words, abbreviations and endings of files too: they need a host of three parts, or something behind. */
const DOUBTFUL: ReadonlySet<string> = new Set(
  "me to it in at be no us my id info test page web link date design media group work top live help tools review rs cc ws gl".split(
    " ",
  ),
);
/** Texts people write that look like domains: `Node.js`, `ASP.NET`, `e.g.`. */
const NO_DOMAINS: ReadonlySet<string> = new Set(
  "asp.net vb.net ado.net ml.net next.js node.js vue.js socket.io fly.io".split(" "),
);

/** The first kind of link in the untrusted `text`, or undefined. A text too long to be read whole counts as one. */
export const linkIn = remembered((text: string): LinkKind | undefined => {
  if (isTooLong(text)) return "unread";
  const seen = composed(text).replace(DOTS, ".");
  if (SCHEME.test(seen)) return "scheme";
  if (MARKDOWN.test(seen)) return "markdown";
  if (HTML.test(seen)) return "html";
  if (IPV4.test(seen) || PROTOCOL_RELATIVE.test(seen)) return "address";
  for (const match of seen.matchAll(DOMAIN)) if (isDomain(match)) return "domain";
  return undefined;
});

function isDomain(match: RegExpExecArray): boolean {
  const { top = "", behind = "" } = match.groups ?? {};
  const name = match[0].slice(0, match[0].length - behind.length).toLowerCase();
  if (name.startsWith("www.")) return true;
  if (NO_DOMAINS.has(name)) return false;
  const ending = top.toLowerCase();
  if (ending.startsWith("xn--")) return true;
  if (
    !TOPS.has(ending) &&
    !(behind.startsWith("/") && /^[a-z]{2}$/.test(ending) && name.split(".").length > 2)
  )
    return false;
  const parts = name.split(".").length;
  // A sentence whose next begins without a space: `Done.It is`.
  if (/\.\p{Lu}\p{Ll}*$/u.test(match[0]) && behind === "" && parts === 2) return false;
  return !DOUBTFUL.has(ending) || behind.startsWith("/") || parts > 2;
}
