/** C16: the upstream calls a list public, the gateway made it personal. */
import t from "tap";
import { answers, asksOnce, DONE, passes, setScene, TRANSFER } from "./scene.ts";

const LISTS = [
  ["tools/list", "tools", "name"],
  ["prompts/list", "prompts", "name"],
  ["resources/list", "resources", "uri"],
  ["resources/templates/list", "resourceTemplates", "uriTemplate"],
] as const;
const names = Array.from({ length: 12 }, (_, i) => `item_${i}`);
const list = (items: string, name: string, hints: string): string =>
  `{"resultType":"complete","${items}":[${names.map((n) => `{"${name}":"${n}","size":1.10}`)}]${hints}}`;
const target = (...items: string[]) => ({ tools: items, prompts: items, resources: items });
const policies = [
  { id: "lists", effect: "allow", methods: ["*list"] },
  ...["tools", "prompts", "resources"].flatMap((kind) => [
    {
      id: `one-${kind}`,
      effect: "allow",
      principal: { subjects: ["u-1001"] },
      [kind]: target("item_1", "item_2", "item_3")[kind as "tools"],
    },
    { id: `two-${kind}`, effect: "allow", principal: { subjects: ["u-2002"] }, [kind]: ["item_?"] },
  ]),
  { id: "acts", effect: "allow", tools: ["transfer"] },
];
const scene = await setScene(t, {
  users: true,
  sections: () => ({ authorization: { policies } }),
});
const seen = (
  reply: { json: { result: Record<string, Record<string, string>[]> } },
  items: string,
  name: string,
) => reply.json.result[items]?.map((item) => item[name]);

t.test("a filtered list is private and stale at once, whatever the upstream says", async (t) => {
  for (const [method, items, name] of LISTS) {
    for (const hints of [
      ',"ttlMs":300000,"cacheScope":"public"',
      ',"cacheScope":"public"',
      ',"ttlMs":1e9',
      ',"ttlMs":"forever","cacheScope":["public"]',
      "",
    ]) {
      scene.upstream.script = answers(list(items, name, hints));
      const one = await scene.gateway.call({ method }, { token: scene.owner });
      const two = await scene.gateway.call({ method }, { token: scene.stranger });
      t.same(seen(one, items, name), names.slice(1, 4), method);
      t.same(seen(two, items, name), names.slice(0, 10));
      for (const { json, headers, body } of [one, two]) {
        t.equal(json.result.cacheScope, "private");
        t.equal(json.result.ttlMs, 0);
        t.equal(headers["cache-control"], "no-store");
        t.match(body, /"size":1\.10/, "what stays is as it was sent");
      }
    }
  }
});

t.test("an item without a readable name is not shown", async (t) => {
  scene.upstream.script = answers(
    '{"tools":[{"title":"x"},{"name":5},{"name":"item_1\\ud800"},"item_1",["item_1"],{"Name":"item_1"},{"name":"item_1"}]}',
  );
  const reply = await scene.gateway.call({ method: "tools/list" }, { token: scene.owner });
  t.same(reply.json.result.tools, [{ name: "item_1" }]);
});

t.test("the answer of a retry is private, and a question carries no cache hints", async (t) => {
  const hinted = asksOnce;
  scene.upstream.script = (arrived, response) => {
    const end = response.end.bind(response);
    response.end = ((text: string) =>
      end(text.replace(/\}\}$/, ',"ttlMs":300000,"cacheScope":"public"}}'))) as typeof response.end;
    return hinted(arrived, response);
  };
  const asked = await scene.gateway.call(TRANSFER, { token: scene.owner });
  t.notOk("cacheScope" in asked.json.result || "ttlMs" in asked.json.result, asked.body);
  const done = await scene.retry(asked.json.result.requestState);
  t.match(done.json.result, { cacheScope: "private", ttlMs: 0 });
});

t.test("honest: where nobody is kept from anything, the upstream's hints stand", async (t) => {
  const open = await setScene(t, {
    script: answers(list("tools", "name", ',"ttlMs":300000,"cacheScope":"public"')),
  });
  const { json } = await open.gateway.call({ method: "tools/list" });
  t.match(json.result, { ttlMs: 300000, cacheScope: "public" });
  t.equal(json.result.tools.length, 12);
  open.upstream.script = answers(DONE);
  await passes(t, open, () => open.gateway.call(TRANSFER));
});
