/**
 * A server does not look at the text of a uri but at what it reads there. A deny holds for every reading, an allow only where
 * there is one. Judged without a server, so that many spellings can be tried; resource-paths.test.ts sends some.
 */
import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import { ANONYMOUS } from "../../src/principal/principal.ts";

const judge = (effect: "allow" | "deny", ...resources: string[]) => {
  const policies = [{ id: "p", effect, resources }];
  const authorizer = createAuthorizer({ default: effect === "allow" ? "deny" : "allow", policies });
  return (name: string) =>
    authorizer.decide(ANONYMOUS, { method: "resources/read", target: { kind: "resource", name } }).allowed;
};

/** Canonical form → other spellings of the same resource, to some reader. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  "file:///secret/a": [
    ...["file:/secret/a", "file:secret/a", "file://localhost/secret/a", "file://LOCALHOST/secret/a"],
    ...[
      "file:\\secret\\a",
      "file:////secret/a",
      "file:/\\secret/a",
      "file:///secret//a",
      "file:///secret/a/",
    ],
    ...["file://127.0.0.1/secret/a", "file://else/secret/a", "FILE:///secret/a", "file:///SECRET/A"],
    ...["file:///%73ecret/a", "file:///%2573ecret/a", "file:///%252573ecret/a", "file:///secret%2fa"],
    ...[
      "file:///secret%5ca",
      "file:///secret/a?",
      "file:///secret/a#",
      "file:///secret/a?x=1",
      "file:///secret/a#x",
    ],
    ...[
      " file:///secret/a",
      "file:///secret/a ",
      "file:///sec\nret/a",
      "file:///sec%0Aret/a",
      "\u0001file:///secret/a",
    ],
    ...["file:///\uff53ecret/a", "file:\uff0f\uff0f\uff0fsecret\uff0fa", "file:///%EF%BD%93ecret/a"],
    ...["file:///secret/a\0", "file:///secret/a%00.png", "file:///./secret/a", "file:///x/../secret/a"],
  ],
  "https://api.example/secret/a": [
    ...[
      "https://api.example:443/secret/a",
      "https://api.example:0443/secret/a",
      "https://api.example:/secret/a",
    ],
    ...["https:/api.example/secret/a", "https:api.example/secret/a", "https:///api.example/secret/a"],
    ...[
      "https:\\\\api.example\\secret\\a",
      "https://@api.example/secret/a",
      "https://u:p@api.example/secret/a",
    ],
    ...["https://x@y@api.example/secret/a", "https://API.example/secret/a", "https://api%2Eexample/secret/a"],
    ...[
      "https://\uff41pi.example/secret/a",
      "https://api\u3002example/secret/a",
      "https://a\u00adpi.example/secret/a",
    ],
    ...[
      "https://api.example./secret/a",
      "https://api.example.:443/secret/a",
      "https://api.example/secret/a?x",
    ],
  ],
  "drive:///secret": [
    ...[
      "drive:///secret?",
      "drive:///secret#",
      "drive:///secret?x",
      "drive:///a/../secret?",
      "drive:/secret",
    ],
    ...["drive:////secret", "drive:///secret/", "DRIVE:///secret", "drive:///%53ecret"],
  ],
  "http://127.0.0.1/a": [
    "http://127.1/a",
    "http://0x7f000001/a",
    "http://2130706433/a",
    "http://0177.0.0.1/a",
  ],
  "file:///отчёты/план": [
    ...["file:///%D0%BE%D1%82%D1%87%D1%91%D1%82%D1%8B/%D0%BF%D0%BB%D0%B0%D0%BD", "file:///отче\u0308ты/план"],
    ...["file:///ОТЧЁТЫ/план", "file:///%d0%be\u0442чёты/план"],
  ],
  "custom:thing": ["CUSTOM:thing", "custom:th%69ng", "custom:thing?x", "custom:Thing", "custom:thing "],
};

t.test("a deny of the canonical form holds for every spelling, an allow for that form only", async (t) => {
  for (const [canonical, spellings] of Object.entries(SAME)) {
    const deny = judge("deny", canonical);
    const denyUnder = judge("deny", `${canonical.slice(0, -1)}*`);
    const allow = judge("allow", canonical);
    t.notOk(deny(canonical), canonical);
    t.ok(allow(canonical), canonical);
    for (const spelling of spellings) {
      t.notOk(deny(spelling), `deny ${JSON.stringify(spelling)}`);
      t.notOk(denyUnder(spelling), `deny under ${JSON.stringify(spelling)}`);
      t.notOk(allow(spelling), `allow ${JSON.stringify(spelling)}`);
    }
  }
});

t.test("a deny written in another spelling holds for the canonical form too", async (t) => {
  for (const [pattern, uri] of [
    ["FILE:///secret/*", "file:///secret/a"],
    ["file:/secret/*", "file:///secret/a"],
    ["file://localhost/secret/*", "file:///secret/a"],
    ["https://api.example:443/secret/*", "https://api.example/secret/a"],
    ["https://API.example/secret/?", "https://api.example/secret/a"],
    ["file:///my%20keys/*", "file:///my keys/a"],
    ["file:///my keys/*", "file:///my%20keys/a"],
    ["https://api.example", "https://api.example/"],
    ["file:///secret/", "file:///secret"],
  ] as const)
    t.notOk(judge("deny", pattern)(uri), pattern);
});

t.test("an allow is no wider than its words: readers must not take another resource out of it", async (t) => {
  for (const [pattern, ...uris] of [
    ["file://*", "file://localhost/a", "file://\\a"],
    ["https:*", "https:api.example/a", "https:\\\\api.example", "https:///api.example/a"],
    [
      "https://*.example/*",
      "https://a.example:443/x",
      "https://evil\\x.example/",
      "https://a.EXAMPLE/x.example/",
    ],
    [
      "notes:///pub/*",
      "notes:///pub/../x",
      "notes:///pub/?/../../../etc/passwd",
      "notes:///pub/#/../../../etc",
    ],
    [
      "notes:///pub/*",
      "notes:///pub/x?y/../../../../etc",
      "notes:///pub/\uff0e\uff0e/x",
      "notes:///pub/..%5cx",
    ],
    ["notes:///pub/*", `notes:///pub/${"%25".repeat(3)}2525252e`, "notes:///pub/a%00b", "notes:///pub/a\tb"],
    ["custom:*", "custom:../x", "custom:..", "custom:.?x"],
  ] as const)
    for (const uri of uris) t.notOk(judge("allow", pattern)(uri), `${pattern} ${JSON.stringify(uri)}`);
});

t.test("honest: allowed, and not denied by its neighbours", async (t) => {
  const allowed: readonly (readonly [string, string])[] = [
    ["notes:///pub/*", "notes:///pub/x"],
    ["notes:///pub/*", "notes:///pub/a b (1).txt"],
    ["notes:///pub/*", "notes:///pub/{name}"],
    ["notes:///pub/*", "notes:///pub/{+path}{?q}"],
    ["notes:///pub/*", "notes:///pub/..hidden/a..b/..."],
    ["notes:///pub/*", "notes:///pub/100%25"],
    ["custom:*", "custom:thing"],
    ["custom:*", "custom:a b"],
    ["urn:isbn:*", "urn:isbn:0451450523"],
    ["x://a*", "x://a?q=1..2"],
    ["x://a*", "x://a?v=1.2"],
    ["https://h/*", "https://h/a?next=https%3A%2F%2Fo%2Fb%3Fc%3Dd%2526e&line=1%0A2"],
    ["https://h/*", "https://h/it's?it's|a^b`c"],
    ["https://h", "https://h"],
    ["https://h", "https://h"],
    ["file:///отчёты/*", "file:///отчёты/план.txt"],
    ["file:///*", "file:///%D0%BE%d1%82/план.txt"],
    ["file:///*", "file:///C:/Users/a"],
    ["x://h/*", "x://h/👩‍👩‍👧‍👦/🏴󠁧󠁢󠁥󠁮󠁧󠁿/e\u0301"],
    ["item_*", "item_1"],
    ["*", "FILE:///a/../b"],
  ];
  for (const [pattern, uri] of allowed) t.ok(judge("allow", pattern)(uri), `${pattern} ${uri}`);
  const deny = judge(
    "deny",
    "file:///secret/*",
    "https://api.example/secret/*",
    "custom:thing",
    "*/private/*",
  );
  for (const uri of [
    ...["file:///public/a", "file:///secrets", "file:///a?next=file:///secret/a", "notes:///secret/a"],
    ...[
      "https://api.example:8443/secret/a",
      "http://api.example/secret/a",
      "https://api.example.org/secret/a",
    ],
    ...[
      "https://api.example@other/secret/a",
      "custom:things",
      "other:thing",
      "file:///privately/x",
      "item_1",
    ],
  ])
    t.ok(deny(uri), uri);
});

t.test("no text is slow to judge", async (t) => {
  const fill = (text: string) => text.repeat(Math.ceil(8192 / Buffer.byteLength(text))).slice(0, 8192);
  const uris = [
    " ",
    "%",
    "%25",
    "%2",
    "/",
    "../",
    ".",
    "a",
    "@",
    ":",
    "\u0300\u0323",
    "\ufdfa",
    "é.",
    "%CC%80%CC%A3",
  ]
    .flatMap((text) =>
      ["x:", "https://", "file:///"].flatMap((start) =>
        ["", "b"].map((end) => `${start}${fill(text)}${end}`),
      ),
    )
    .concat(`https://${"a\u0300\u0323\u00ad".repeat(1300)}/`, `x:${"\uff9e\u0300".repeat(1600)}`);
  const patterns = [`*${"a".repeat(400)}b*`, `*?${"a".repeat(400)}b*`, "*/private/*", "*a*a*a*a*b?"];
  for (const effect of ["allow", "deny"] as const) {
    const decide = judge(effect, ...patterns);
    for (const uri of uris) {
      decide(uri);
      const start = performance.now();
      decide(uri);
      const ms = performance.now() - start;
      t.ok(ms < 2_000, `${effect} ${JSON.stringify(uri.slice(0, 24))}: ${ms.toFixed(1)} ms`);
    }
  }
});
