import t from "tap";
import {
  isHostAuthority,
  isLoopback,
  isNetwork,
  isPrivate,
  parseListen,
  parseUrl,
  printListen,
  sameListen,
} from "../../../src/config/addresses.ts";

t.test("listen addresses", async (t) => {
  const good: [string, string, number][] = [
    ["127.0.0.1:8080", "127.0.0.1", 8080],
    ["0.0.0.0:80", "0.0.0.0", 80],
    ["localhost:0", "localhost", 0],
    ["[::1]:8080", "::1", 8080],
    ["[::]:65535", "::", 65535],
    ["gw.example.com:443", "gw.example.com", 443],
  ];
  for (const [text, host, port] of good) {
    t.same(parseListen(text), { host, port }, text);
    t.equal(printListen({ host, port }), text);
  }
  const bad = [
    "",
    "8080",
    ":8080",
    "127.0.0.1",
    "127.0.0.1:",
    "::1:8080",
    "[::1]",
    "[127.0.0.1]:80",
    "127.0.0.1:65536",
    "127.0.0.1:080",
    "127.0.0.1:-1",
    "127.0.0.1:8e1",
    "http://127.0.0.1:80",
    "127.0.0.1:80/",
    "1.2.3:80",
    "999.1.1.1:80",
    "a b:80",
    "a_b:80",
    "-a:80",
    "*:80",
    "[::1%eth0]:80",
    "127.0.0.1:80\n",
  ];
  for (const text of bad) t.equal(parseListen(text), undefined, JSON.stringify(text));
});

t.test("which listeners clash", async (t) => {
  const at = (text: string) => parseListen(text) ?? { host: "", port: -1 };
  const pairs: [string, string, boolean][] = [
    ["127.0.0.1:80", "127.0.0.1:80", true],
    ["0.0.0.0:80", "127.0.0.1:80", true],
    ["127.0.0.1:80", "[::]:80", true],
    ["localhost:80", "127.0.0.1:80", true],
    ["127.0.0.1:80", "127.0.0.1:81", false],
    ["127.0.0.1:80", "127.0.0.2:80", false],
    ["127.0.0.1:0", "127.0.0.1:0", false],
  ];
  for (const [a, b, same] of pairs) t.equal(sameListen(at(a), at(b)), same, `${a} ${b}`);
});

t.test("loopback and private", async (t) => {
  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST", "a.localhost"]) {
    t.ok(isLoopback(host), host);
  }
  for (const host of [
    "0.0.0.0",
    "::",
    "128.0.0.1",
    "localhost.example.com",
    "127.0.0.1.example.com",
    "10.0.0.1",
  ]) {
    t.notOk(isLoopback(host), host);
  }
  for (const host of [
    "10.1.2.3",
    "172.31.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "[fd00::1]",
    "idp",
    "idp.svc",
    "a.internal",
  ]) {
    t.ok(isPrivate(host), host);
  }
  for (const host of [
    "11.1.2.3",
    "172.32.0.1",
    "8.8.8.8",
    "idp.example.com",
    "internal.example.com",
    "[2001:db8::1]",
  ]) {
    t.notOk(isPrivate(host), host);
  }
});

t.test("hosts, networks and URLs", async (t) => {
  for (const text of ["a.example", "a.example:8080", "[::1]", "[::1]:80", "127.0.0.1"])
    t.ok(isHostAuthority(text), text);
  for (const text of [
    "",
    "A.example",
    "http://a",
    "a/",
    "a:",
    "a:99999",
    "*.example",
    "a b",
    "[::1",
    "[127.0.0.1]",
  ]) {
    t.notOk(isHostAuthority(text), text);
  }
  for (const text of ["10.0.0.0/8", "::1", "fd00::/8", "127.0.0.1", "0.0.0.0/0"]) t.ok(isNetwork(text), text);
  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0/8",
    "::/129",
    "10.0.0.0/08",
    "10.0.0.0/",
    "a/8",
    "10.0.0.0/8/8",
  ]) {
    t.notOk(isNetwork(text), text);
  }
  t.ok(parseUrl("https://a.example/x?y"));
  for (const text of [
    "",
    "a",
    "http://",
    "http://a b",
    " http://a",
    "http://a\t",
    "http:\\\\a",
    `http://${"a".repeat(3_000)}`,
  ]) {
    t.equal(parseUrl(text), undefined, JSON.stringify(text.slice(0, 20)));
  }
});
