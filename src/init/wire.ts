/**
 * One question to an MCP server, as a client of revision 2026-07-28 asks it, and its answer. Bounded in time and size; no
 * redirect is followed, and nothing the server says is repeated in a message.
 */
import { Agent, request } from "undici";
import { errorCode } from "../error-code.ts";
import { Refusal } from "../errors.ts";
import { JsonError, type JsonText, type Node, scan } from "../json/scan.ts";
import { withoutQuery } from "../log.ts";
import { CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY } from "../mcp/era.ts";
import { parseServerMessage, sameId } from "../mcp/message.ts";
import { createSseParser, EventStreamError } from "../sse.ts";
import { Unsuitable } from "./unsuitable.ts";

/** Largest answer that is read. */
const MAX_ANSWER_BYTES = 4_194_304;
const MAX_DEPTH = 64;
const ID = "1";
/** A server that drips pages may take this many times the time of one question, all in all. */
const QUESTIONS = 10;

/** An answer that is a result: an object in a scanned text. */
export interface Answer {
  readonly doc: JsonText;
  readonly result: Node;
}

/** The server answered with a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** `data.supported` of the error, where it is a list of revisions. */
  readonly supported: readonly string[];

  constructor(code: number, supported: readonly string[]) {
    super(`error ${code}`);
    this.code = code;
    this.supported = supported;
  }
}

/** A way to ask one server; owns its connections. */
export interface Wire {
  /** @throws RpcError, Unsuitable */
  ask(method: string, params?: Readonly<Record<string, unknown>>): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * @param url the operator's, http or https
 * @param token the server's credential, if it needs one
 * @param ca PEM of the authority of the server's certificate; without it those that everybody trusts
 * @param timeout of one question, in milliseconds, whole answer included; all questions together may take ten times as long
 */
export function openWire(url: string, token: string | undefined, timeout: number, ca?: string): Wire {
  const agent = new Agent({
    connect: { timeout, ...(ca === undefined ? {} : { ca }) },
    headersTimeout: timeout,
    bodyTimeout: timeout,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const at = withoutQuery(url);
  const patience = AbortSignal.timeout(timeout * QUESTIONS);
  return {
    async ask(method, params = {}) {
      const signal = AbortSignal.any([AbortSignal.timeout(timeout), patience]);
      try {
        const body = JSON.stringify({
          jsonrpc: "2.0",
          id: Number(ID),
          method,
          params: { ...params, _meta: { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} } },
        });
        const response = await request(url, {
          method: "POST",
          dispatcher: agent,
          signal,
          body,
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "accept-encoding": "identity",
            "mcp-protocol-version": MODERN_VERSION,
            "mcp-method": method,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          },
        });
        const type = String(response.headers["content-type"] ?? "")
          .split(";")[0]
          ?.trim()
          .toLowerCase();
        const status = response.statusCode;
        if (status >= 300 && status < 400) throw new Unsuitable(redirected(at, response.headers["location"]));
        if (status === 401 || status === 403) throw new Unsuitable(refused(at, status, token !== undefined));
        if (type === "text/event-stream") return await firstAnswer(response.body);
        if (type === "application/json") {
          const answer = read(Buffer.from(await response.body.arrayBuffer()));
          if (answer !== undefined) return answer;
        }
        throw new Unsuitable(
          `${at}: answers with HTTP ${status} and no JSON-RPC message, so it is no MCP endpoint`,
        );
      } catch (error) {
        throw told(error, at, signal.aborted, timeout);
      }
    },
    close: () => agent.destroy(),
  };
}

/** The response among the events of a stream. Leaving the loop closes the connection. */
async function firstAnswer(body: AsyncIterable<Uint8Array>): Promise<Answer> {
  const found: Answer[] = [];
  const parser = createSseParser({
    maxEventBytes: MAX_ANSWER_BYTES,
    onEvent: ({ data }) => {
      const answer = data.length === 0 || found.length > 0 ? undefined : read(data);
      if (answer !== undefined) found.push(answer);
    },
  });
  for await (const chunk of body) {
    parser.feed(chunk);
    const [answer] = found;
    if (answer !== undefined) return answer;
  }
  throw new EventStreamError("utf8");
}

/** @returns undefined for a message that is no answer to ours */
function read(bytes: Buffer): Answer | undefined {
  const doc = scan(bytes, { bytes: MAX_ANSWER_BYTES, depth: MAX_DEPTH });
  const message = parseServerMessage(doc);
  if (message.type === "error") {
    const supported = doc.get(doc.get(message.error, "data"), "supported");
    throw new RpcError(
      Number(doc.raw(doc.get(message.error, "code") ?? message.error)),
      revisions(doc, supported),
    );
  }
  return message.type === "result" && sameId(message.id, ID) ? { doc, result: message.result } : undefined;
}

/** The revisions in a list; what does not look like one is left out. */
export function revisions(doc: JsonText, list: Node | undefined): readonly string[] {
  if (list === undefined) return [];
  const texts = doc.items(list).map((item) => doc.raw(item));
  return texts.flatMap((text) => /^"(\d{4}-\d{2}-\d{2})"$/.exec(text)?.[1] ?? []).slice(0, 16);
}

function redirected(at: string, location: unknown): string {
  const to = typeof location === "string" && URL.canParse(location, at) ? new URL(location, at) : undefined;
  const place = to !== undefined && /^https?:$/.test(to.protocol) ? ` to ${withoutQuery(to.href)}` : "";
  return `${at}: redirects${place}, which is not followed; if that is the server, give its URL as --upstream`;
}

function refused(at: string, status: number, hasToken: boolean): string {
  return hasToken
    ? `${at}: does not accept the given token (HTTP ${status})`
    : `${at}: needs a token (HTTP ${status}); give it with --upstream-token-file FILE or --upstream-token-env NAME`;
}

const STRANGER =
  "its certificate is of an authority that this machine does not trust; give that one with --upstream-ca FILE";

/** What OpenSSL finds wrong with a certificate. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: STRANGER,
  DEPTH_ZERO_SELF_SIGNED_CERT: STRANGER,
  UNABLE_TO_GET_ISSUER_CERT: STRANGER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: STRANGER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: STRANGER,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name than that of the URL",
};

/** Faults of the network and of JSON in words; what is told already goes on as it is. */
function told(error: unknown, at: string, late: boolean, timeout: number): unknown {
  if (error instanceof Unsuitable || error instanceof RpcError) return error;
  if (error instanceof JsonError || error instanceof Refusal || error instanceof EventStreamError) {
    return new Unsuitable(`${at}: answers, but not with JSON-RPC as MCP has it, so it is no MCP endpoint`);
  }
  const code = errorCode(error) ?? "";
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return new Unsuitable(`${at}: an answer is larger than ${MAX_ANSWER_BYTES / 1_048_576} MiB`);
  }
  if (late || code.endsWith("TIMEOUT")) return new Unsuitable(`${at}: no answer within ${timeout / 1000} s`);
  const words = CERTIFICATE[code];
  if (words !== undefined) return new Unsuitable(`${at}: ${words}`);
  return new Unsuitable(`${at}: cannot be reached${code === "" ? "" : ` (${code})`}`);
}
