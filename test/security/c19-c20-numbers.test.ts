/** C19 and C20: long numbers change on their way through; two huge numbers share one digest. */
import t from "tap";
import { passes, refuses, refusesState, request, setScene } from "./scene.ts";

const scene = await setScene(t);
const like = { method: "tools/call", params: { name: "pay" } };
const pay = (args: string, more = "", id = "7"): string =>
  request(`"name":"pay","arguments":${args}${more}`, "tools/call", id);
const seal = async (args: string): Promise<string> => {
  const reply = await scene.raw(pay(args), like);
  t.equal(reply.status, 200, reply.body);
  return `,"requestState":"${reply.json.result.requestState}","inputResponses":{"confirm":{"action":"decline"}}`;
};

/** Numbers that a double cannot tell apart: sealed with the first, never redeemed with another. */
const LOOKALIKES: readonly (readonly [string, ...string[]])[] = [
  ["9007199254740993", "9007199254740992", "9007199254740993.0", "9007199254740994"],
  ["1e400", "1e401", "1E400", "-1e400", "null", '"1e400"', "1e+400"],
  ["0.1", "0.1000000000000000055", "0.10"],
  ["-0", "0", "-0.0", "0e0"],
  ["1", "1.0", "true", '"1"', "[1]"],
  ["1e-400", "0", "1e-401"],
  ["12345678901234567890", "12345678901234567891", "1.2345678901234567890e19"],
  [`1${"0".repeat(400)}`, `1${"0".repeat(401)}`, `2${"0".repeat(400)}`, "null"],
];

for (const [sealed, ...others] of LOOKALIKES) {
  t.test(`sealed with ${sealed.slice(0, 24)}`, async (t) => {
    const state = await seal(`{"account":${sealed}}`);
    for (const other of others) {
      const body = pay(`{"account":${other}}`, state, "8");
      await refusesState(t, scene, () => scene.raw(body, like), { id: "8", cause: "params" });
    }
    const arrived = await passes(t, scene, () => scene.raw(pay(`{"account":${sealed}}`, state, "8"), like));
    t.match(arrived.body, `"account":${sealed}}`);
  });
}

t.test("digits, ids and the rest of a body arrive as they were sent, both ways", async (t) => {
  const text =
    '{"resultType":"complete","structuredContent":{"ref":4611686018427387905,"amt":10000000000000000.05,"b":1.10,"a":1E400,"t":"\\u00e9\\/"},"content":[]}';
  for (const id of [
    "9007199254740993",
    "-9007199254740993",
    '"9007199254740993"',
    "123456789012345678901234567890",
    '"\\u0061\\n"',
  ]) {
    scene.upstream.script = (_arrived, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
    };
    const body = pay('{"account":9007199254740993,"x":1.10,"y":-0,"z":1e2}', "", id);
    const reply = await scene.raw(body, like);
    t.equal(reply.body, `{"jsonrpc":"2.0","id":${id},"result":${text}}`);
    t.equal(scene.upstream.arrived.at(-1)?.body, body);
  }
});

t.test("an answer to another id is not the answer, however close the ids are", async (t) => {
  for (const [sent, answered] of [
    ["9007199254740993", "9007199254740992"],
    ["1", '"1"'],
    ['"1"', "1"],
    ['"a"', '"A"'],
    ["1", "1.5"],
    ["0", '""'],
  ] as const) {
    scene.upstream.script = (_arrived, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${answered},"result":{"resultType":"complete","content":[]}}`);
    };
    const reply = await scene.raw(pay("{}", "", sent), like);
    t.equal(reply.json.error.code, -32603, `${sent} ${answered}`);
    t.match(reply.body, new RegExp(`^\\{"jsonrpc":"2\\.0","id":${sent},`));
  }
});

t.test("ids that are no id", async (t) => {
  for (const id of ["null", "1.5", "1e0", "1.0", "[1]", "{}", "true", '"\\ud800"']) {
    await refuses(t, scene, () => scene.raw(pay("{}", "", id), like), { status: 400 });
  }
});
