import fc from "fast-check";
import t from "tap";
import { callerOn, networkOf } from "../../../src/allowance/caller.ts";
import { ANONYMOUS, type Principal } from "../../../src/principal/principal.ts";

const alice: Principal = {
  anonymous: false,
  issuer: "https://login.example",
  subject: "alice",
  groups: [],
  scopes: [],
};

t.test("an IPv4 address is itself, however it is written", async (t) => {
  for (const text of [
    "192.0.2.7",
    "::ffff:192.0.2.7",
    "::FFFF:c000:0207",
    "0:0:0:0:0:ffff:192.0.2.7",
    "192.0.2.7:50123",
    "[::ffff:192.0.2.7]:443",
  ])
    t.equal(networkOf(text), "192.0.2.7", text);
  t.not(networkOf("192.0.2.8"), "192.0.2.7");
});

t.test("an IPv6 address is its /64, however it is written", async (t) => {
  for (const text of [
    "2001:db8:1:2::1",
    "2001:db8:1:2:ffff:ffff:ffff:ffff",
    "2001:0DB8:0001:0002:0:0:0:9",
    "[2001:db8:1:2::1]:8080",
    "[2001:db8:1:2::1]",
    "2001:db8:1:2::5%eth0",
    "2001:db8:1:2::192.0.2.7",
  ])
    t.equal(networkOf(text), "2001:db8:1:2::/64", text);
  for (const [text, network] of [
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["fe80::1", "fe80:0:0:0::/64"],
    ["::ffff:0:0:1", "0:0:0:0::/64"],
  ] as const)
    t.equal(networkOf(text), network, text);
});

t.test("what is no address is one network with all that is none", async (t) => {
  for (const text of [
    "",
    "unknown",
    "_hidden",
    "192.0.2",
    "1.2.3.4.5",
    "::1::2",
    "x".repeat(10_000),
    "1.2.3.4:x",
  ])
    t.equal(networkOf(text), "unknown", text.slice(0, 20));
});

t.test(
  "a person is one caller in every client, and another one for another issuer, tenant or route",
  async (t) => {
    const name = callerOn("/mcp", alice, "192.0.2.7");
    t.match(name, /^[ap]-[\w-]{22}$/);
    t.equal(callerOn("/mcp", { ...alice, client: "phone" }, "192.0.2.7"), name, "another client");
    t.equal(callerOn("/mcp", { ...alice, groups: ["staff"], scopes: ["x"] }, "192.0.2.7"), name);
    t.equal(callerOn("/mcp", alice, "198.51.100.1"), name, "another address");
    const others = [
      callerOn("/other", alice, "192.0.2.7"),
      callerOn("/mcp", { ...alice, issuer: "https://other.example" }, "192.0.2.7"),
      callerOn("/mcp", { ...alice, tenant: "t" }, "192.0.2.7"),
      callerOn("/mcp", { ...alice, tenant: "" }, "192.0.2.7"),
      callerOn("/mcp", { ...alice, subject: "Alice" }, "192.0.2.7"),
      callerOn("/mcp", ANONYMOUS, "192.0.2.7"),
    ];
    t.equal(new Set([name, ...others]).size, others.length + 1);
  },
);

t.test("no subject has the name of another caller", async (t) => {
  const names = new Set(
    [
      "alice",
      "alice:requests",
      'alice","x',
      '"]',
      "192.0.2.7",
      "}:open",
      "{a}",
      "a\u0000b",
      "a\nb",
      "",
      "😀",
      "x".repeat(100_000),
    ].map((subject) => callerOn("/mcp", { ...alice, subject }, "192.0.2.7")),
  );
  t.equal(names.size, 12);
  for (const name of names) t.match(name, /^[ap]-[\w-]{22}$/, "no sign that means something to Redis");
});

t.test("callers without a token are their networks", async (t) => {
  const at = (address: string) => callerOn("/mcp", ANONYMOUS, address);
  t.equal(at("2001:db8:1:2::1"), at("2001:db8:1:2:9:9:9:9"));
  t.not(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
  t.not(at("192.0.2.7"), at("192.0.2.8"));
});

t.test(
  "any address in any spelling is the network of its first 64 bits; any other text is none",
  async () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const address = fc.tuple(group, group, group, group, group, group, group, group);
    const long = (groups: readonly number[]): string => groups.map((one) => one.toString(16)).join(":");
    const padded = (groups: readonly number[]): string =>
      groups.map((one) => one.toString(16).padStart(4, "0").toUpperCase()).join(":");
    const short = (groups: readonly number[]): string =>
      new URL(`http://[${long(groups)}]/`).hostname.replace(/^\[|\]$/g, "");
    const isMapped = (groups: readonly number[]): boolean =>
      groups.slice(0, 5).every((one) => one === 0) && groups[5] === 0xffff;
    fc.assert(
      fc.property(address, address, (a, b) => {
        const network = networkOf(long(a));
        for (const text of [padded(a), short(a), `[${short(a)}]:443`, `${long(a)}%lo`])
          if (networkOf(text) !== network) return false;
        if (isMapped(a) || isMapped(b)) return true;
        const other = [...a.slice(0, 4), ...b.slice(4)];
        const same = a.slice(0, 4).every((one, index) => one === b[index]);
        return (
          (isMapped(other) || networkOf(long(other)) === network) && (networkOf(long(b)) === network) === same
        );
      }),
    );
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => typeof networkOf(text) === "string"));
  },
);
