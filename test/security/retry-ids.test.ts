/** A retry needs an id of its own; ids are compared by what they are, not by how they are spelled. */
import t from "tap";
import { passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t);
const like = { method: "tools/call", params: { name: "x" } };
const seal = async (id: string): Promise<string> => {
  const reply = await scene.raw(request('"name":"x"', "tools/call", id), like);
  return `"name":"x","requestState":"${reply.json.result.requestState}","inputResponses":{}`;
};

const SAME = [
  ["1", "1"],
  ['"1"', '"1"'],
  ['"1"', '"\\u0031"'],
  ["0", "-0"],
  ['"\ud83d\ude00"', '"\\ud83d\\ude00"'],
  ['"a/b"', '"a\\/b"'],
  ["9007199254740993", "9007199254740993"],
] as const;
const OTHER = [
  ["1", '"1"'],
  ['"1"', "1"],
  ["9007199254740993", "9007199254740992"],
  ['"a"', '"A"'],
  ['"a"', '"a "'],
  ['"\u00e9"', '"e\u0301"'],
  ['""', '"0"'],
  ['""', "0"],
] as const;

t.test("the id of the answered request is refused and spends nothing", async (t) => {
  for (const [first, again] of SAME) {
    const params = await seal(first);
    const sent = () => scene.raw(request(params, "tools/call", again), like);
    await refuses(t, scene, sent, { status: 400, code: -32600, reason: "same_request_id" });
    await passes(t, scene, () => scene.raw(request(params, "tools/call", '"fresh"'), like));
  }
});

t.test("honest: another id, however close", async (t) => {
  for (const [first, again] of OTHER) {
    const params = await seal(first);
    const arrived = await passes(t, scene, () => scene.raw(request(params, "tools/call", again), like));
    t.ok(arrived.body.startsWith(`{"jsonrpc":"2.0","id":${again},`));
  }
});
