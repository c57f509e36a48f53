/** Settings for single tools by name: none of them may show that a hidden tool is there, whether they are stricter or laxer. */
import t from "tap";
import { type CallOptions, type Message, meta, type Reply } from "../support/gateway.ts";
import type { Script } from "../support/upstream.ts";
import { setScene } from "./scene.ts";

const ODD = ["protocol/progress-token", "protocol/no-elicitation-mode", "http/header-characters"];
const set = (mode: string) => Object.fromEntries(ODD.map((id) => [id, mode]));
const scene = await setScene(t, {
  sections: (url) => ({
    authorization: {
      default: "allow",
      policies: [
        { id: "names", effect: "deny", tools: ["hidden", "wild-hidden"] },
        {
          id: "values",
          effect: "deny",
          tools: ["hidden", "shown"],
          arguments: [{ path: "/a", equals: "x" }],
        },
      ],
    },
    routes: [
      { path: "/laxer", upstream: { url }, rules: { ...set("enforce"), tools: [{ match: ["hidden", "shown", "wild-*"], ...set("off") }] } }, // biome-ignore format: one item, one line
      { path: "/stricter", upstream: { url }, rules: { ...set("off"), tools: [{ match: ["hidden", "shown", "wild-*"], ...set("enforce") }] } }, // biome-ignore format: one item, one line
      { path: "/needs", upstream: { url }, capability: { allow: ["roots"], tools: [{ match: ["hidden", "shown", "wild-*"], requires: ["roots"] }] } }, // biome-ignore format: one item, one line
      { path: "/asks", upstream: { url }, capability: { allow: ["roots"], tools: [{ match: ["hidden", "shown"], allow: [] }] } }, // biome-ignore format: one item, one line
    ],
  }),
});
/** Knows no tool at all. */
const knowsNothing: Script = (arrived, response) => {
  const { id, params } = arrived.json;
  const error = { code: -32602, message: `Unknown tool: ${params.name}` };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
};
scene.upstream.script = knowsNothing;

type Variant = readonly [params: Readonly<Record<string, unknown>>, options?: CallOptions];
const VARIANTS: readonly Variant[] = [
  [{ _meta: { ...meta(), progressToken: {} } }],
  [{ _meta: { ...meta(), progressToken: 1.5 } }],
  [{ _meta: { ...meta(), progressToken: "fine" } }],
  [{}, { capabilities: { elicitation: { vendor: {} } } }],
  [{}, { headers: { "mcp-odd": "\u00e9" } }],
  [{ arguments: { a: "x" } }],
  [{ requestState: "sg1.AAAA" }],
  [{ inputResponses: {} }],
];

/** All that a caller sees, but for what differs between any two requests. */
const seen = ({ status, headers, body }: Reply) => ({
  status,
  headers: { ...headers, date: "", "x-request-id": "", "content-length": "" },
  body: body.replace(/"requestId":"[^"]*"/, ""),
});

const call = (path: string, name: string, [params, options = {}]: Variant): Promise<Reply> => {
  const message: Message = { id: 4, method: "tools/call", params: { name, ...params } };
  return scene.gateway.call(message, { ...options, path });
};

t.test("a hidden name reads like one that nobody has", async (t) => {
  for (const path of ["/laxer", "/stricter", "/needs", "/asks"]) {
    for (const variant of VARIANTS) {
      for (const [hidden, unknown] of [
        ["hidden", "no-such"],
        ["wild-hidden", "wild-no-such"],
      ] as const) {
        // biome-ignore format: one pair, one line
        const [a, b] = [await call(path, hidden, variant), await call(path, unknown, variant)];
        t.same(seen(a), seen(b), `${path} ${hidden} ${JSON.stringify(variant)}: ${a.body.slice(0, 120)}`);
      }
    }
  }
});

t.test("honest: what is set for a tool holds for its callers", async (t) => {
  const odd: Variant = [{ _meta: { ...meta(), progressToken: {} } }];
  t.equal((await call("/laxer", "shown", odd)).json.error.code, -32602);
  t.match(scene.gateway.audit.at(-1), { code: "unknown_tool", cause: "upstream" });
  t.equal((await call("/stricter", "shown", odd)).status, 400);
  t.match(scene.gateway.audit.at(-1), { code: "invalid_params", cause: "progress_token" });
  t.equal((await call("/laxer", "other", odd)).status, 400);
  t.equal((await call("/stricter", "other", odd)).status, 200);
  t.equal((await call("/laxer", "wild-no-such", odd)).status, 200, "patterns hold for names that nobody has");
  t.equal((await call("/needs", "shown", [{}])).json.error.code, -32021);
});
