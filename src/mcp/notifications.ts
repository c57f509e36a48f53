/**
 * The notifications of one modern stream against the request that it answers: progress of that request, logs that it asked for, and
 * on a subscription what was subscribed to, after its acknowledgement. Source: MCP 2026-07-28, progress, logging, subscriptions.
 */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { type RequestMessage, sameId } from "./message.ts";
import { sameNumber } from "./number.ts";

const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** Notification → the member of a subscription that asks for it. */
const SUBSCRIBED: ReadonlyMap<string, string> = new Map([
  ["notifications/tools/list_changed", "toolsListChanged"],
  ["notifications/prompts/list_changed", "promptsListChanged"],
  ["notifications/resources/list_changed", "resourcesListChanged"],
  ["notifications/resources/updated", "resourceSubscriptions"],
]);
const FILTERS: ReadonlySet<string> = new Set(SUBSCRIBED.values());

/** The number of a progress notification, as sent. */
interface Progress {
  readonly value: number;
  readonly raw: string;
}

/** What one stream has carried so far. Made when its first notification comes. */
export class NotificationWatch {
  readonly #doc: JsonText;
  readonly #request: RequestMessage;
  #progress: Progress | undefined;
  #acknowledged = false;

  /** @param doc the scanned text of the request; client and server are both untrusted */
  constructor(doc: JsonText, request: RequestMessage) {
    this.#doc = doc;
    this.#request = request;
  }

  /** What is wrong with the next notification of the stream; empty when nothing is. */
  findings(
    doc: JsonText,
    message: { readonly method: string; readonly params: Node | undefined },
  ): Finding[] {
    const { method, params } = message;
    if (this.#request.method === "subscriptions/listen") return this.#subscribed(doc, method, params);
    if (method === "notifications/progress") return this.#progressed(doc, params);
    if (method === "notifications/message") {
      const asked = this.#doc.get(this.#request.meta, LOG_LEVEL_KEY) !== undefined;
      return asked ? [] : [{ rule: "protocol/log-unasked", detail: "no_level" }];
    }
    return SUBSCRIBED.has(method) || method === ACKNOWLEDGED
      ? [{ rule: "http/unrelated-notification", detail: "subscription" }]
      : [];
  }

  #progressed(doc: JsonText, params: Node | undefined): Finding[] {
    const own = this.#doc.get(this.#request.meta, "progressToken");
    const token = doc.get(params, "progressToken");
    if (own === undefined || token === undefined || !sameId(doc.raw(token), this.#doc.raw(own)))
      return [{ rule: "protocol/progress-unknown", detail: own === undefined ? "no_token" : "other_token" }];
    const node = doc.get(params, "progress");
    const value = node !== undefined && doc.kind(node) === "number" ? Number(doc.raw(node)) : Number.NaN;
    if (node === undefined || !Number.isFinite(value))
      return [{ rule: "protocol/progress-order", detail: "no_number" }];
    const before = this.#progress;
    const progress = { value, raw: doc.raw(node) };
    // Numbers that round to the same double may still go up.
    const goesUp =
      before === undefined ||
      value > before.value ||
      (value === before.value && !sameNumber(progress.raw, before.raw));
    if (!goesUp) return [{ rule: "protocol/progress-order", detail: "not_increasing" }];
    this.#progress = progress;
    return [];
  }

  #subscribed(doc: JsonText, method: string, params: Node | undefined): Finding[] {
    const findings: Finding[] = [];
    const id = doc.get(doc.get(params, "_meta"), SUBSCRIPTION_KEY);
    if (id === undefined) findings.push({ rule: "protocol/listen-id-missing", detail: "missing" });
    else if (!isSameId(doc.raw(id), this.#request.id))
      findings.push({ rule: "protocol/listen-id", detail: "differs" });
    if (method === ACKNOWLEDGED) {
      this.#acknowledged = true;
      return findings;
    }
    if (!this.#acknowledged) findings.push({ rule: "protocol/listen-order", detail: "not_acknowledged" });
    if (!this.#isAskedFor(doc, method, params))
      findings.push({ rule: "protocol/listen-type", detail: "not_asked" });
    return findings;
  }

  /** A filter that is not known may ask for a notification that is not known. */
  #isAskedFor(doc: JsonText, method: string, params: Node | undefined): boolean {
    const own = this.#doc;
    const filters = own.get(this.#request.params, "notifications");
    const name = SUBSCRIBED.get(method);
    if (name === undefined)
      return filters !== undefined && own.members(filters).some(({ key }) => !FILTERS.has(key));
    const filter = own.get(filters, name);
    if (filter === undefined) return false;
    if (name !== "resourceSubscriptions") return own.kind(filter) === "true";
    const uri = doc.text(doc.get(params, "uri"));
    return uri !== undefined && own.items(filter).some((item) => isWithin(uri, own.text(item)));
  }
}

/** Whether a resource is the one subscribed to, or one below it. */
function isWithin(uri: string, subscribed: string | undefined): boolean {
  if (subscribed === undefined || !uri.startsWith(subscribed)) return false;
  return (
    uri.length === subscribed.length ||
    subscribed.endsWith("/") ||
    "/?#".includes(uri[subscribed.length] ?? "")
  );
}

function isSameId(a: string, b: string): boolean {
  // Some servers print a number as a string here.
  return /^["\d-]/.test(a) && (sameId(a, b) || a === `"${b}"`);
}
