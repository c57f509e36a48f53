/** What `sealgate explain` is asked about: a principal and a message, as an operator writes them. Wrong ones are UsageErrors. */
import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import * as z from "zod";
import { errorCode } from "../error-code.ts";
import { Refusal } from "../errors.ts";
import { JsonError, type JsonText, scan } from "../json/scan.ts";
import { type NotificationMessage, parseClientMessage, type RequestMessage } from "../mcp/message.ts";
import { aimOf } from "../mcp/methods.ts";
import { ANONYMOUS, type Principal } from "../principal/principal.ts";
import { UsageError } from "./usage-error.ts";

const NAMES = ["issuer", "subject", "client", "tenant", "groups", "scopes"] as const;
const LISTS: ReadonlySet<string> = new Set(["groups", "scopes"]);

const text = z.string().max(4_096);
const identity = z.strictObject({
  issuer: text.min(1),
  subject: text,
  client: text.exactOptional(),
  tenant: text.exactOptional(),
  groups: z.array(text).default([]),
  scopes: z.array(text).default([]),
});

/**
 * @param given `anonymous`, `issuer=…,subject=…,client=…,tenant=…,groups=a|b,scopes=a|b`, or JSON with the same names
 * @throws UsageError
 */
export function parsePrincipal(given: string): Principal {
  if (given === "anonymous") return ANONYMOUS;
  const result = identity.safeParse(given.startsWith("{") ? readJson(given) : readPairs(given));
  if (result.success) return { anonymous: false, ...result.data };
  const [issue] = result.error.issues;
  const what =
    issue?.code === "unrecognized_keys" ? `a name that is not known` : String(issue?.path[0] ?? "it");
  throw new UsageError(
    `--principal is not in order (${what}): anonymous, or issuer and subject, and of ${NAMES.slice(2).join(", ")} what there is`,
  );
}

function readJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new UsageError("--principal begins like JSON and is none");
  }
}

/** Values may hold `=` and blanks; a comma only in JSON. */
function readPairs(given: string): Record<string, unknown> {
  const pairs = new Map<string, unknown>();
  for (const pair of given.split(",")) {
    const [, name = "", value = ""] = /^\s*([a-z]+)=(.*)$/s.exec(pair) ?? [];
    if (!NAMES.some((known) => known === name)) {
      throw new UsageError(
        `--principal needs NAME=VALUE with one of ${NAMES.join(", ")}; a comma in a value needs JSON`,
      );
    }
    if (pairs.has(name)) throw new UsageError(`--principal has ${name} twice`);
    pairs.set(name, LISTS.has(name) ? value.split("|").filter((one) => one !== "") : value);
  }
  return Object.fromEntries(pairs);
}

/** A message that policy can be asked about, in its text. */
export interface Asked {
  readonly doc: JsonText;
  readonly message: RequestMessage | NotificationMessage;
}

interface Limits {
  readonly bytes: number;
  readonly depth: number;
}

/** How a call is given. */
export interface GivenCall {
  /** A JSON-RPC message, `@FILE` or `-` with one, or the name of a method. */
  readonly call: string;
  /** With the name of a method: what it is about, and its arguments, as JSON, `@FILE` or `-`. */
  readonly name: string | undefined;
  readonly arguments: string | undefined;
}

/**
 * Reads it with the code that reads messages of clients.
 * @throws UsageError, also for what the gateway would refuse as a message
 */
export async function readCall({ call, name, arguments: args }: GivenCall, limits: Limits): Promise<Asked> {
  const isMethod = /^[A-Za-z]/.test(call);
  if (!isMethod && (name !== undefined || args !== undefined)) {
    throw new UsageError("--name and --arguments go with the name of a method as --call");
  }
  const body = isMethod ? await bodyOf(call, name, args, limits) : await content(call, "--call");
  try {
    const doc = scan(Buffer.from(body), limits);
    const message = parseClientMessage(doc);
    if ("method" in message) return { doc, message };
    throw new UsageError("--call is an answer, and no request");
  } catch (error) {
    if (error instanceof JsonError) throw new UsageError(`--call is not one JSON value (${error.fault})`);
    if (error instanceof Refusal)
      throw new UsageError(`--call would be refused before policy: ${error.entry.message}`);
    throw error;
  }
}

/** A message around a method; the arguments stay as they are written, to the last digit. */
async function bodyOf(
  method: string,
  name: string | undefined,
  args: string | undefined,
  limits: Limits,
): Promise<string> {
  const aim = aimOf(method);
  // It would say nothing without what it is about.
  if (name === undefined && aim !== undefined) throw new UsageError(`${method} needs --name`);
  const member = aim?.member ?? "name";
  const params = [
    ...(name === undefined ? [] : [`${JSON.stringify(member)}:${JSON.stringify(name)}`]),
    ...(args === undefined ? [] : [`"arguments":${await argumentsOf(args, limits)}`]),
  ];
  const id = method.startsWith("notifications/") ? "" : '"id":1,';
  return `{"jsonrpc":"2.0",${id}"method":${JSON.stringify(method)},"params":{${params.join(",")}}}`;
}

async function argumentsOf(given: string, limits: Limits): Promise<string> {
  const text = await content(given, "--arguments");
  try {
    scan(Buffer.from(text), limits);
    return text;
  } catch (error) {
    if (error instanceof JsonError) throw new UsageError(`--arguments is not JSON (${error.fault})`);
    throw error;
  }
}

async function content(given: string, option: string): Promise<string> {
  if (given === "-") return readAll(process.stdin);
  if (!given.startsWith("@")) return given;
  try {
    return await readFile(given.slice(1), "utf8");
  } catch (error) {
    const code = errorCode(error) ?? "unknown cause";
    throw new UsageError(`${option}: the file cannot be read: ${code}`);
  }
}
