/**
 * Where rules are tried: one upstream, and gateways before it that enforce, report or leave off everything that can be switched.
 * A case says what breaks a rule and what its honest neighbour is; the runner says what has to come of it in each mode.
 */
import type { Test } from "tap";
import type { AuditRecord } from "../../src/audit/record.ts";
import { isSwitchable, type RuleId, SWITCHABLE_IDS } from "../../src/rules/catalogue.ts";
import { MODES, type Mode } from "../../src/rules/rule.ts";
import {
  type CallOptions,
  type Message,
  type Reply,
  startGateway,
  type TestGateway,
} from "../support/gateway.ts";
import { type Arrived, result, type Script, startUpstream, type TestUpstream } from "../support/upstream.ts";

/** A gateway in one mode, and the server behind it. */
export interface Stage {
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  readonly mode: Mode;
  /** Sends a message that is answered with this result. */
  answered(message: Message, text: string, options?: CallOptions): Promise<Reply>;
  /** Sends a message whose answer is a stream of these messages; `$ID` stands for the request's id. */
  streamed(message: Message, events: readonly string[], options?: CallOptions): Promise<Reply>;
  /** Plays a round: asks with this result, and gives the sealed state. */
  asked(message: Message, text: string, options?: CallOptions): Promise<string>;
  /** What arrived at the server last. */
  last(): Arrived | undefined;
}

/** One rule, broken and kept. */
export interface RuleCase {
  readonly rule: RuleId;
  /** The requirements that this case is about; all of them are the rule's. */
  readonly rows: readonly number[];
  /** Tells cases of one rule apart. */
  readonly name?: string;
  /** Breaks the rule. */
  bad(stage: Stage): Promise<Reply>;
  /** The nearest that keeps it. */
  honest(stage: Stage): Promise<Reply>;
  /** Whether the gateway acted on the rule. Default: the reply is an error. */
  acted?(reply: Reply, stage: Stage): boolean;
  /** False for core rules that act without a refusal, and so leave no mark in the record. */
  readonly noted?: boolean;
}

/** The `_meta` of a result that is in order. */
export const SERVER = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}';
/** A result of a call with nothing wrong. */
export const DONE = `{"resultType":"complete","content":[{"type":"text","text":"done"}],${SERVER}}`;
/** A call of a tool that all policies allow. */
export const CALL: Message = { method: "tools/call", params: { name: "add", arguments: { a: 1 } } };
export const READ: Message = { method: "resources/read", params: { uri: "file:///notes/a.txt" } };
export const LIST: Message = { method: "tools/list" };
/** A question by form with nothing wrong. */
export const FORM =
  '{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}';
/** An `input_required` result with these members. */
export const asks = (members: string): string => `{"resultType":"input_required",${members},${SERVER}}`;
/** One with one question, and a state. */
export const asksOne = (question: string): string =>
  asks(`"requestState":"U1","inputRequests":{"q":${question}}`);
/** A complete list of tools with hints. */
export const tools = (items: string, more = '"ttlMs":0,"cacheScope":"private"'): string =>
  `{"resultType":"complete","tools":[${items}],${more},${SERVER}}`;
export const notification = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/${method}","params":{${params}}}`;

/** Starts one gateway per mode before one upstream; everything ends with the test. */
export async function setStages(
  t: Test,
  sections: (upstream: string) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<readonly Stage[]> {
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  t.teardown(() => upstream.close());
  return Promise.all(
    MODES.map(async (mode) => {
      const rules = Object.fromEntries(SWITCHABLE_IDS.map((id) => [id, mode]));
      const gateway = await startGateway(upstream.url, { rules, ...sections(upstream.url) });
      t.teardown(() => gateway.close(0));
      return stageOf(gateway, upstream, mode);
    }),
  );
}

function stageOf(gateway: TestGateway, upstream: TestUpstream, mode: Mode): Stage {
  const play = (script: Script, message: Message, options?: CallOptions): Promise<Reply> => {
    upstream.script = script;
    return gateway.call(message, options);
  };
  const answered: Stage["answered"] = (message, text, options) =>
    play((arrived, response) => result(arrived, response, text), message, options);
  return {
    gateway,
    upstream,
    mode,
    answered,
    streamed: (message, events, options) =>
      play(
        (arrived, response) => {
          const id = JSON.stringify(arrived.json.id);
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.end(events.map((event) => `data: ${event.replaceAll("$ID", id)}\n\n`).join(""));
        },
        message,
        options,
      ),
    async asked(message, text, options) {
      const reply = await answered(message, text, options);
      const state: unknown = reply.json?.result?.requestState;
      if (typeof state !== "string") throw new Error(`no state: ${reply.status} ${reply.body}`);
      return state;
    },
    last: () => upstream.arrived.at(-1),
  };
}

/** Tries every case in every mode that its rule can have. */
export function runCases(
  t: Test,
  cases: readonly RuleCase[],
  sections?: (upstream: string) => Readonly<Record<string, unknown>>,
): void {
  t.test("cases", async (t) => {
    const stages = await setStages(t, sections);
    for (const one of cases) {
      const { rule, name = "" } = one;
      await t.test(`${rule} ${one.rows.join(" ")} ${name}`.trim(), async (t) => {
        for (const stage of stages)
          if (isSwitchable(rule) || stage.mode === "enforce") await tryOut(t, one, stage);
      });
    }
  });
}

async function tryOut(t: Test, one: RuleCase, stage: Stage): Promise<void> {
  const { mode } = stage;
  const acted = one.acted ?? ((reply: Reply) => reply.json?.error !== undefined);
  const marks = async (send: (stage: Stage) => Promise<Reply>): Promise<[Reply, string[]]> => {
    const before = stage.gateway.audit.length;
    const reply = await send(stage);
    for (const record of stage.gateway.audit.slice(before)) t.same(countedTwice(record), [], "counted once");
    return [reply, stage.gateway.audit.slice(before).flatMap((record) => marksOf(record, one.rule))];
  };
  const [bad, noted] = await marks((on) => one.bad(on));
  t.equal(
    acted(bad, stage),
    mode === "enforce",
    `${mode}: what breaks it: ${bad.status} ${bad.body.slice(0, 300)}`,
  );
  if (one.noted !== false) t.same([...new Set(noted)], mode === "off" ? [] : [mode], `${mode}: on record`);
  const [honest, unnoted] = await marks((on) => one.honest(on));
  t.equal(
    acted(honest, stage),
    false,
    `${mode}: what keeps it: ${honest.status} ${honest.body.slice(0, 300)}`,
  );
  t.same(unnoted, [], `${mode}: nothing on record`);
}

/** Rules that stand in a record for what another enforced rule stands for there already. */
function countedTwice({ rules = [] }: AuditRecord): string[] {
  const enforced = rules.filter(({ mode }) => mode === "enforce");
  return enforced
    .filter(({ detail }, index) => enforced.findIndex((other) => other.detail === detail) < index)
    .map(({ id }) => id);
}

function marksOf({ rules = [] }: AuditRecord, rule: RuleId): string[] {
  return rules.filter(({ id }) => id === rule).map(({ mode }) => mode);
}
