/**
 * `sealgate health`: asks the admin listener of a gateway on this machine whether it lives, or is ready. For health checks of
 * containers, which have no shell and no curl. Reads the one section of the configuration it needs, and no secret.
 */
import { get } from "node:http";
import { isIPv6 } from "node:net";
import { type Listen, parseUrl } from "../config/addresses.ts";
import { readConfigFile } from "../config/config-file.ts";
import { readDocument } from "../config/document.ts";
import { loadConfig } from "../config/load.ts";
import { valueAt } from "../config/problems.ts";
import { SECTIONS } from "../config/schema.ts";
import { printDuration } from "../config/units.ts";
import { ConfigError } from "../errors.ts";
import { EXIT } from "./exit.ts";

/** Answers of the admin listener are below 100 bytes. */
const MAX_ANSWER_BYTES = 4_096;
/** The words of an answer that are printed; anything else in it is not. */
const WORD = /^[a-z_ ]{1,40}$/;

/** What `status` says when all is well, by path. */
const WELL = { "/healthz": "ok", "/readyz": "ready" } as const;
type Path = keyof typeof WELL;

interface Verdict {
  readonly well: boolean;
  readonly text: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * Asks once and prints one line: to standard output if all is well, else to standard error.
 * @param options either `config` (a file) or `url` (an origin, `parseAdminUrl`); `timeout` in milliseconds
 * @returns the exit code: 0, or 1 for any answer but the right one, and for none
 * @throws ConfigError, ConfigFileError; the command line prints them
 */
export async function health(options: {
  readonly config?: string;
  readonly url?: URL;
  readonly ready: boolean;
  readonly timeout: number;
}): Promise<number> {
  const { config, url, ready, timeout } = options;
  const path: Path = ready ? "/readyz" : "/healthz";
  const at = new URL(path, url ?? (await adminOrigin(config ?? "")));
  const { well, text } = await askHealth(at, timeout);
  if (well) process.stdout.write(`${at.href}: ${text}\n`);
  else process.stderr.write(`sealgate: ${at.href}: ${text}\n`);
  return well ? EXIT.ok[0] : EXIT.unhealthy[0];
}

/**
 * Asks `/healthz` or `/readyz` once, within `timeout` milliseconds for all of the answer. Follows nothing, never throws.
 * @returns whether all is well, and why or why not, in a few words of which the answer can choose no others
 */
export function askHealth(at: URL, timeout: number): Promise<Verdict> {
  const path: Path = at.pathname === "/readyz" ? "/readyz" : "/healthz";
  return ask(at, timeout).then(
    (answer) => judge(answer, path),
    (error: unknown) => ({ well: false, text: `no answer ${whyNone(error, timeout)}` }),
  );
}

/** `http://host:port` → its URL; `undefined` for anything else, a user or password in it, too. */
export function parseAdminUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  if (url === undefined || url.protocol !== "http:") return undefined;
  return url.href === `${url.origin}/` ? url : undefined;
}

/** Where a process on the same machine reaches a listener: a wildcard is no address to connect to. */
export function reachable({ host, port }: Listen): string {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

async function adminOrigin(file: string): Promise<string> {
  const doc = readDocument(await readConfigFile(file));
  const value = valueAt(doc.value, ["admin"]);
  const admin = SECTIONS.admin.safeParse(value);
  // Whatever cannot be read is told with all the rest of it.
  if (doc.problems.length > 0 || (value !== undefined && !admin.success)) await loadConfig(file, process.env);
  if (admin.data !== undefined) return reachable(admin.data.listen);
  const message = "is missing: without admin.listen there is nobody to ask";
  throw new ConfigError([{ file, ...doc.place([]), path: "admin", message }]);
}

function ask(at: URL, timeout: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // The time is for all of it, so that one who drips bytes is not waited for.
  const request = get(at, { agent: false, signal: AbortSignal.timeout(timeout) }, (response) => {
    let body = "";
    response.setEncoding("latin1");
    response.on("data", (piece: string) => {
      body += piece;
      if (body.length > MAX_ANSWER_BYTES) request.destroy(new Error("too long"));
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    response.on("error", reject);
  });
  request.on("error", reject);
  return promise;
}

function judge({ status, body }: Answer, path: Path): Verdict {
  const answer = parse(body);
  const word = (name: string): string | undefined => {
    const value = valueAt(answer, [name]);
    return typeof value === "string" && WORD.test(value) ? value : undefined;
  };
  const [said, store, reason] = [word("status"), word("store"), word("reason")];
  if (said === undefined) return { well: false, text: `${status}, not the answer of a gateway` };
  const details = store === undefined ? "" : `, store ${store}${reason === undefined ? "" : ` (${reason})`}`;
  return { well: status === 200 && said === WELL[path], text: `${status} ${said}${details}` };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function whyNone(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return "for an unknown cause";
  if (error.name === "AbortError" || error.name === "TimeoutError") return `within ${printDuration(timeout)}`;
  return "code" in error ? `(${String(error.code)})` : `(${error.message})`;
}
