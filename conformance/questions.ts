/** The tools and the prompt of the conformance server that ask before they answer. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  completable,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const STRING = { type: "string" } as const;
const BOOLEAN = { type: "boolean" } as const;

const form = (
  message: string,
  name: string,
  property: typeof STRING | typeof BOOLEAN = STRING,
): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [name]: property }, required: [name] },
  });
const sample = (words: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: words } }],
    maxTokens,
  });

/** What a tool asks, round by round; the states tell the rounds apart. */
interface Flow {
  readonly asks: readonly Readonly<Record<string, InputRequest>>[];
  /** Whether its questions leave with a state. */
  readonly keepsState: boolean;
}

const NAME = { user_name: form("What is your name?", "name") };
const CONFIRM = { confirm: form("Please confirm", "ok", BOOLEAN) };
const FLOWS: Readonly<Record<string, Flow>> = {
  test_input_required_result_elicitation: { asks: [NAME], keepsState: false },
  test_input_required_result_sampling: {
    asks: [{ capital_question: sample("What is the capital of France?", 100) }],
    keepsState: false,
  },
  test_input_required_result_list_roots: {
    asks: [{ client_roots: inputRequired.listRoots() }],
    keepsState: false,
  },
  test_input_required_result_request_state: { asks: [CONFIRM], keepsState: true },
  test_input_required_result_multiple_inputs: {
    asks: [{ ...NAME, greeting: sample("Generate a greeting", 50), client_roots: inputRequired.listRoots() }],
    keepsState: true,
  },
  test_input_required_result_multi_round: {
    asks: [
      { step1: form("Step 1: What is your name?", "name") },
      { step2: form("Step 2: What is your favorite color?", "color") },
    ],
    keepsState: true,
  },
  test_input_required_result_tampered_state: { asks: [CONFIRM], keepsState: true },
  test_streaming_elicitation: { asks: [NAME], keepsState: false },
  // The SDK refuses questions that the client has not declared.
  test_missing_capability: { asks: [{ word: sample("Say a word", 10) }], keepsState: false },
};

/** Whether there is an answer of the shape that answers have to each question. */
function answers(asked: Readonly<Record<string, InputRequest>>, { mcpReq }: ServerContext): boolean {
  return Object.keys(asked).every((key) => {
    const answer = mcpReq.inputResponses?.[key];
    return typeof answer === "object" && answer !== null;
  });
}

/** What is to be asked now; undefined when all is answered. Answers to another round ask that round again. */
async function next(
  { asks, keepsState }: Flow,
  states: RequestStateCodec<string>,
  ctx: ServerContext,
): Promise<InputRequiredResult | undefined> {
  const state = ctx.mcpReq.requestState<string>();
  const round = keepsState ? (state === undefined ? -1 : Number(state)) : 0;
  const asked = asks[round];
  const answered = asked !== undefined && answers(asked, ctx);
  const following = answered ? round + 1 : Math.max(0, round);
  const inputRequests = asks[following];
  if (inputRequests === undefined) return undefined;
  return inputRequired({
    inputRequests,
    ...(keepsState ? { requestState: await states.mint(String(following), ctx) } : {}),
  });
}

function declared(ctx: ServerContext): ClientCapabilities {
  const envelope = (ctx.mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>;
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
}

/** Registers them. `states` prints and reads what keeps the rounds apart. */
export function addQuestions(server: McpServer, states: RequestStateCodec<string>): void {
  for (const [name, flow] of Object.entries(FLOWS)) {
    server.registerTool(
      name,
      { description: `Asks: ${name}`, inputSchema: z.object({}) },
      async (_args, ctx) =>
        (await next(flow, states, ctx)) ?? {
          content: [{ type: "text", text: `state-ok ${JSON.stringify(ctx.mcpReq.inputResponses)}` }],
        },
    );
  }
  server.registerTool(
    "test_input_required_result_capabilities",
    { description: "Asks what the client can answer", inputSchema: z.object({}) },
    (_args, ctx) => {
      const can = declared(ctx);
      const inputRequests = {
        ...(can.elicitation === undefined ? {} : NAME),
        ...(can.sampling === undefined ? {} : { greeting: sample("Generate a greeting", 50) }),
      };
      return Object.keys(inputRequests).length > 0
        ? inputRequired({ inputRequests })
        : { content: [{ type: "text", text: "nothing can be asked" }] };
    },
  );
  const flow: Flow = {
    asks: [{ user_context: form("What context should the prompt use?", "context") }],
    keepsState: false,
  };
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "A prompt that asks first" },
    async (ctx) =>
      (await next(flow, states, ctx)) ?? {
        messages: [
          { role: "user", content: { type: "text", text: JSON.stringify(ctx.mcpReq.inputResponses) } },
        ],
      },
  );
  server.registerPrompt(
    "test_completion",
    {
      description: "A prompt whose argument can be completed",
      argsSchema: z.object({ arg1: completable(z.string(), (start) => [`${start}is`, `${start}ma`]) }),
    },
    ({ arg1 }) => ({ messages: [{ role: "user", content: { type: "text", text: arg1 } }] }),
  );
}
