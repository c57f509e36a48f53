import t from "tap";
import { RedisFailure } from "../../../src/redis/failure.ts";
import { parseSlots, redirectionOf, slotOf } from "../../../src/redis/slots.ts";

const HERE = { host: "10.0.0.1", port: 7000 };
const failed = (reply: string) => new RedisFailure("error", `Redis: ${reply}`, reply);

t.test("slots as the specification has them", async (t) => {
  // CRC-16/XMODEM of the check text is 0x31c3.
  t.equal(slotOf("123456789"), 0x31c3 % 16_384);
  t.equal(slotOf("foo"), 12_182);
  t.equal(slotOf(""), 0);
  t.equal(slotOf("{user1000}.following"), slotOf("{user1000}.followers"));
  t.equal(slotOf("foo{}{bar}"), slotOf("foo{}{bar}"));
  t.not(slotOf("foo{}{bar}"), slotOf("bar"), "an empty tag is none");
  t.equal(slotOf("foo{{bar}}zap"), slotOf("{bar"));
  t.equal(slotOf("foo{bar}{zap}"), slotOf("bar"));
  t.equal(slotOf("sg:{0f}:epoch"), slotOf("sg:{0f}:29000000"));
});

t.test("the map, and what is no map", async (t) => {
  const reply = [
    [0, 5460, ["10.0.0.2", 7001, "id", []], ["10.0.0.9", 7002, "id"]],
    [5461, 10_922, ["", 7003, "id"]],
    [10_923, 16_383, [null, 7004, "id"]],
  ];
  t.same(parseSlots(reply, HERE), [
    { first: 0, last: 5460, master: { host: "10.0.0.2", port: 7001 } },
    { first: 5461, last: 10_922, master: { host: "10.0.0.1", port: 7003 } },
    { first: 10_923, last: 16_383, master: { host: "10.0.0.1", port: 7004 } },
  ]);
  for (const odd of [
    null,
    "OK",
    [],
    [null],
    [[0]],
    [[0, 16_384, ["h", 1]]],
    [[-1, 2, ["h", 1]]],
    [[0, 1, ["h", 0]]],
  ])
    t.same(parseSlots(odd, HERE), [], JSON.stringify(odd));
});

t.test("redirections", async (t) => {
  for (const [reply, redirection] of [
    ["MOVED 3999 10.0.0.2:6381", { kind: "moved", to: { host: "10.0.0.2", port: 6381 } }],
    ["MOVED 3999 ::1:6381", { kind: "moved", to: { host: "::1", port: 6381 } }],
    ["MOVED 3999 :6381", { kind: "moved", to: { host: "10.0.0.1", port: 6381 } }],
    ["ASK 3999 node.example:6381", { kind: "ask", to: { host: "node.example", port: 6381 } }],
    ["TRYAGAIN Multiple keys request during rehashing of slot", { kind: "later" }],
    ["CLUSTERDOWN The cluster is down", { kind: "later" }],
  ] as const)
    t.same(redirectionOf(failed(reply), HERE), redirection, reply);
  for (const other of [
    failed("ERR MOVED 1 h:1"),
    failed("WRONGTYPE"),
    new RedisFailure("unreachable", "MOVED 1 h:1"),
    new Error("x"),
  ])
    t.equal(redirectionOf(other, HERE), undefined);
});
