/**
 * The one form question by which the gateway asks for consent: what is shown to a person, what has to be filled in, and the digest
 * of all of it. Pure. Whatever arguments hold cannot change what a person reads, nor take the place of what is always shown. The
 * same parameters give the same question, however they are spelled.
 */
import { createHash } from "node:crypto";
import type { Arguments } from "../argument-reading.ts";
import { digestParams } from "../json/canonical.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Target } from "../mcp/methods.ts";
import type { Principal } from "../principal/principal.ts";
import { type ApprovePolicy, pathsOf, policyDigest, settingsOf, strictestMask } from "./approve-policy.ts";
import { printDetails } from "./details.ts";
import { formOf, type QuestionField } from "./fields.ts";
import { holdingLine } from "./holding.ts";
import { LENGTHS, renderTemplate, type Subject, subjectOf } from "./sentence.ts";
import { type Mask, showText } from "./values.ts";

/** Key of the question among `inputRequests`, and of its answer; where another's call is asked about, with the id of that behind it. */
const APPROVAL_KEY = "approval";
const KEY_OF_ANOTHER = /^approval\/([A-Za-z0-9_-]{22})$/;
/** Bytes (UTF-8) of the longest message. */
export const MAX_MESSAGE_BYTES = 4_096;
/** Bytes of the sentences of all policies together. */
const MAX_SENTENCES_BYTES = 1_536;
/** Lines of arguments. */
const MAX_DETAILS = 40;
/** What stands below the arguments always has room. */
const TAIL_BYTES = 256;
const LABEL = "sealgate/approval/1";
/** Members of parameters that are shown, or that no consent is bound to. */
const PROTOCOL = ["_meta", "inputResponses", "requestState"];
const CALLED: ReadonlySet<string> = new Set([...PROTOCOL, "name", "arguments"]);
const READ: ReadonlySet<string> = new Set([...PROTOCOL, "uri"]);

/** Somebody else's call that waits, as the one is shown it who may approve it. */
export interface Waiting {
  readonly id: string;
  /** Whose call it is. */
  readonly requester: Principal;
}

/** A call that needs consent. */
export interface ApprovalCall {
  /** What people call the server: the route's path, or its configured name. */
  readonly server: string;
  /** The route's path and its upstream's address: bound, and not shown. */
  readonly route: string;
  readonly upstream: string;
  readonly method: string;
  readonly target: Target;
  /**
   * Policy forbids it to this caller, who is asked as about a name that nobody has. It is never the same call as one that may run: who may
   * not make a call approves nobody else's, and does not learn that it waits.
   */
  readonly hidden?: boolean;
  /** The message, and its `params`. Untrusted, but scanned. */
  readonly doc: JsonText;
  readonly params: Node | undefined;
  readonly principal: Principal;
}

/** The question, ready to be sealed and sent. */
export interface ApprovalQuestion {
  /** Its key among `inputRequests`. */
  readonly key: string;
  /** Plain text in lines; at most `MAX_MESSAGE_BYTES`. */
  readonly message: string;
  /** JSON text of a flat form that `formSchemaFault` accepts. */
  readonly requestedSchema: string;
  /**
   * Digest (base64url SHA-256) of everything shown, of all parameters and of the policies. To be sealed, and compared with that of
   * the question made anew for the retry. It depends on what is masked: not for logs, audit or keys of a store.
   */
  readonly shown: string;
  /** The same without whose call it is and how it was put: equal for two callers who make the same call. As secret. */
  readonly matter: string;
  /** Shown to people and in audit: equal for two who are asked about the same call. */
  readonly code: string;
  /** Ids of the policies that ask, in the order of the configuration. */
  readonly policies: readonly string[];
  readonly fields: readonly QuestionField[];
}

/** The id of somebody else's call that a question with this key is about; undefined of a question about the caller's own. */
export const waitingIdOf = (key: string): string | undefined => KEY_OF_ANOTHER.exec(key)?.[1];

/**
 * Puts one question for all policies (one or more) that match a call.
 * @param code what people tell calls apart by, of a `matter`: keyed, so that nobody can guess by it what is masked
 *   (`Approvals.code`)
 * @param another somebody else's call that is the same as this one, and that this caller is asked to approve
 * @throws JsonError `kind` for parameters that are no object
 */
export function approvalQuestion(
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
  code: (matter: string) => string,
  another?: Waiting,
): ApprovalQuestion {
  const matter = matterOf(policies, call);
  const shownCode = code(matter);
  const given = { doc: call.doc, node: argumentsOf(call) };
  const subject = subjectOf(
    { tool: call.target.name, server: call.server, principal: another?.requester ?? call.principal },
    given,
    pathsOf(policies),
  );
  const form = formOf(policies, subject);
  const text = messageOf(policies, call, subject, given, another !== undefined);
  const key = another === undefined ? APPROVAL_KEY : `${APPROVAL_KEY}/${another.id}`;
  const requestedSchema = JSON.stringify(form.schema);
  const typed = form.fields.map((field) => field.typed ?? null);
  return {
    key,
    message: `${text}\nCode: ${shownCode}`,
    requestedSchema,
    shown: digest(["shown", matter, key, text, requestedSchema, typed]),
    matter,
    code: shownCode,
    policies: policies.map(({ id }) => id),
    fields: form.fields,
  };
}

/** @param subject with the one whose call it is, who is another than the caller where `forAnother` */
function messageOf(
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
  subject: Subject,
  given: Arguments,
  forAnother: boolean,
): string {
  const { target, server } = call;
  const page = new Page(MAX_MESSAGE_BYTES - TAIL_BYTES);
  page.head(
    forAnother
      ? "Approve this call of somebody else? It runs as theirs; yours does not run."
      : "Approve this call?",
  );
  page.head(`- ${target.kind}: ${showText(target.name, "alone", target.kind === "resource" ? 200 : 128)}`);
  page.head(`- server: ${showText(server, "alone", 64)}`);
  if (forAnother) page.head(`- asked for by: ${showCaller(subject.principal)}`);
  const holding = holdingLine(policies, call);
  if (holding !== undefined) page.head(holding);
  const settings = policies.map(settingsOf);
  const mask = strictestMask(policies);
  const messages = settings.flatMap(({ message }) => message ?? []);
  const rendered = LENGTHS.map((most) => messages.map((one) => renderTemplate(one, subject, mask, most)));
  const isWhole = page.sentences(rendered);
  // Somebody who is not told in a sentence sees the list, whatever policy says of it.
  const hides = isWhole && settings.every(({ details }) => details === "hide");
  page.details(given, mask, hides, countOthers(call));
  return page.text;
}

/** Who asks, for whoever is to approve it. */
function showCaller({ anonymous, subject, issuer, client }: Principal): string {
  if (anonymous) return "(anonymous)";
  const by = client === undefined ? "" : ` in ${showText(client, "amid", 64)}`;
  return `${showText(subject, "amid", 64)} of ${showText(issuer, "amid", 96)}${by}`;
}

/** Digests of parameters, which take time where these are many. */
const known = new WeakMap<ApprovalCall, string>();

/** What a call is, whoever makes it. */
export function matterOf(policies: readonly ApprovePolicy[], call: ApprovalCall): string {
  const { route, upstream, method, target, hidden = false, doc, params } = call;
  const asking = policies.map((policy) => [policy.id, policyDigest(policy)]);
  const parameters = known.get(call) ?? digestParams(doc, params);
  known.set(call, parameters);
  return digest(["matter", route, upstream, method, target.kind, target.name, hidden, parameters, asking]);
}

/** A JSON array: no part can slide into the next. All texts in it are well formed. */
const digest = (parts: readonly unknown[]): string =>
  createHash("sha256")
    .update(JSON.stringify([LABEL, ...parts]), "utf8")
    .digest("base64url");

function argumentsOf({ method, doc, params }: ApprovalCall): Node | undefined {
  return method === "resources/read" ? undefined : doc.present(params, "arguments");
}

/** Members of the parameters that are not shown; bound all the same. */
function countOthers({ method, doc, params }: ApprovalCall): number {
  const known = method === "resources/read" ? READ : CALLED;
  return params === undefined ? 0 : doc.members(params).filter(({ key }) => !known.has(key)).length;
}

/** The text as it grows, within its bound. */
class Page {
  readonly #lines: string[] = [];
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  /** What is always shown; bounded by whoever makes it. */
  head(line: string): void {
    this.#left -= Buffer.byteLength(line) + 1;
    this.#lines.push(line);
  }

  /**
   * Each once, in the first of several forms that has room for all; of the last as far as they go.
   * @returns whether all are there
   */
  sentences(forms: readonly (readonly string[])[]): boolean {
    const room = (all: readonly string[]): number =>
      all.reduce((left, one) => left - Buffer.byteLength(one) - 1, MAX_SENTENCES_BYTES);
    const different = forms.map((all) => [...new Set(all)]);
    const fitting = different.find((all) => room(all) >= 0) ?? different.at(-1) ?? [];
    const put = fitting.findIndex((_, at) => room(fitting.slice(0, at + 1)) < 0);
    const all = put === -1 ? fitting : fitting.slice(0, put);
    for (const sentence of all) this.head(sentence);
    const more = fitting.length - all.length;
    if (more > 0) this.head(`(${more} more sentences of policies are too long to be shown)`);
    return more === 0;
  }

  details(given: Arguments, mask: Mask, hidden: boolean, others: number): void {
    const { doc, node } = given;
    const count = node === undefined ? 0 : doc.count(node);
    if (node !== undefined && doc.kind(node) !== "object")
      this.head("Arguments: not an object, and not shown");
    else if (count === 0) this.head("Arguments: none");
    else if (hidden) this.head("Arguments: not shown");
    else {
      const { lines, left } = printDetails(given, mask, { lines: MAX_DETAILS, bytes: this.#left });
      this.head(left > 0 ? "Arguments: not all of them are shown" : "Arguments:");
      for (const line of lines) this.head(line);
      if (left > 0) this.head(`(and ${left} more, or what they hold, not shown)`);
    }
    if (others > 0) this.head(`(members of the request that are not shown: ${others})`);
  }
}
