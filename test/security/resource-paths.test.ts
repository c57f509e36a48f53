/** A policy for one path is passed by another spelling of a path, since the server resolves what the pattern compares. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { answers, DONE, passes, refuses, type Scene, setScene } from "./scene.ts";

const policies = (...list: object[]) => ({
  script: answers(DONE),
  sections: () => ({ authorization: { default: "allow", policies: list } }),
});
const allowing = await setScene(t, {
  script: answers(DONE),
  sections: () => ({
    authorization: {
      policies: [
        { id: "notes", effect: "allow", resources: ["file:///notes/*", "https://files.example/pub/*"] },
      ],
    },
  }),
});
const denying = await setScene(
  t,
  policies({ id: "no", effect: "deny", resources: ["file:///secret/*", "file:///my%20keys/*"] }),
);
const silent = await setScene(t, policies({ id: "tools", effect: "deny", tools: ["x"] }));

const read = (uri: string): Message => ({ method: "resources/read", params: { uri } });
const call = (scene: Scene, uri: string) => () => {
  const name = `=?base64?${Buffer.from(uri).toString("base64")}?=`;
  return scene.gateway.call(read(uri), { headers: { "mcp-name": name } });
};
const UNKNOWN = { status: 200, code: -32602, reason: "unknown_resource" };

const CLIMBING = [
  "file:///notes/../etc/passwd",
  "file:///notes/a/../../etc/passwd",
  "file:///notes/..",
  "file:///notes/.",
  "file:///notes/./../x",
  "file:///notes/%2e%2e/etc/passwd",
  "file:///notes/%2E./etc/passwd",
  "file:///notes/..%2fetc/passwd",
  "file:///notes/..%2F..%5cetc",
  "file:///notes\\..\\etc\\passwd",
  "file:///notes/..\\etc",
  "file:///notes/.\t./etc",
  "file:///notes/.\n%2e/etc",
  "https://files.example/pub/../private",
  "https://files.example/pub/..?x",
  "https://files.example/pub/..#x",
  "file:///notes/a?/../../etc/passwd",
  "file:///notes/a#/../../etc/passwd",
  "file:///notes/?x/%252e%252e/etc",
  "file:///notes/..;x/etc",
];

t.test("no climbing out of what is allowed", async (t) => {
  for (const uri of CLIMBING) await refuses(t, allowing, call(allowing, uri), UNKNOWN);
  t.match(allowing.gateway.audit.at(-1), { policy: "(dot segment)" });
});

t.test("an allow holds only for the spelling it was written in", async (t) => {
  for (const uri of [
    "FILE:///notes/a",
    "file:///%6eotes/a",
    "https://FILES.example/pub/a",
    " file:///notes/a",
  ]) {
    await refuses(t, allowing, call(allowing, uri), UNKNOWN);
  }
});

t.test("a deny holds for every spelling", async (t) => {
  for (const uri of [
    "file:///secret/a",
    "file:///Secret/a",
    "FILE:///secret/a",
    "file:///%73ecret/a",
    "file:///s%65cret/%61",
    "file:///x/../secret/a",
    "file:///./secret/a",
    "file:///secret\\a",
    "file:///se\tcret/a",
    "\u0001file:///secret/a",
    "file:///secret%2fa",
    "file:///my%20keys/a",
    "file:///my keys/a",
    "file:///my%20%6beys/a",
  ]) {
    await refuses(t, denying, call(denying, uri), UNKNOWN);
  }
});

t.test(
  "honest: dots that are no segment, escapes, other paths; and every byte goes up as it was sent",
  async (t) => {
    for (const [scene, uris] of [
      [
        allowing,
        [
          "file:///notes/a",
          "file:///notes/.hidden",
          "file:///notes/a..b/...",
          "file:///notes/100%25",
          "file:///notes/%D0%BF",
          "file:///notes/a?x=1..2#..b",
        ],
      ],
      [denying, ["file:///public/a", "file:///secrets", "file:///a?next=file:///secret/a"]],
      [silent, ["file:///a/../b", "FILE:///A"]],
    ] as const) {
      for (const uri of uris) {
        const arrived = await passes(t, scene, call(scene, uri));
        t.equal(arrived.json.params.uri, uri);
      }
    }
  },
);

t.test("lists, templates and updates are judged by the same rule", async (t) => {
  const uris = ["file:///notes/a", "file:///notes/../b", "file:///notes/%2e%2e/b"];
  allowing.upstream.script = answers(JSON.stringify({ resources: uris.map((uri) => ({ uri, name: "n" })) }));
  const { json } = await allowing.gateway.call({ method: "resources/list" });
  t.same(json.result.resources, [{ uri: "file:///notes/a", name: "n" }]);
  const notifications = { resourceSubscriptions: ["file:///notes/a", "file:///notes/../b"] };
  const listen = { method: "subscriptions/listen", params: { notifications } };
  await refuses(t, allowing, () => allowing.gateway.call(listen), UNKNOWN);
});
