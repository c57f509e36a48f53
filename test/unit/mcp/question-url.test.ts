import t from "tap";
import { type AddressPolicy, addressFindings } from "../../../src/mcp/address-findings.ts";
import { MAX_URL, readQuestionUrl } from "../../../src/mcp/question-url.ts";

const ANYWHERE: AddressPolicy = { hosts: undefined, loopbackHttp: false, ownHosts: new Set(["idp.example"]) };

/** `rule detail` of what an address breaks, without the area. */
function judge(address: string, policy: Partial<AddressPolicy> = {}): string[] {
  const url = readQuestionUrl(address);
  if (typeof url === "string") return [url];
  return addressFindings(url, { ...ANYWHERE, ...policy }).map(
    ({ rule, detail }) => `${rule.slice(12)} ${detail}`,
  );
}

t.test("honest addresses", async (t) => {
  const good = [
    "https://connect.example/c/1",
    "HTTPS://Connect.Example",
    "https://connect.example:8443/?next=https://other.example/@x",
    "https://bank.example/sign-in?flow=7",
    "https://пример.example/привет",
    "https://münchen.example/",
    "https://日本語テスト.example/?q=%E6%97%A5",
    "https://한국.example",
    "https://10.0.0.7/x",
    "https://[2001:db8::1]/x",
    "https://[2001:db8::ffff:0:7f00:1]/x",
    "https://connect.example/oauth/authorize?response_type=code&client_id=3f2a9c&scope=read%20write&state=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b&nonce=n-0S6_WzA2Mj&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&redirect_uri=https%3A%2F%2Fapp.example%2Fcb",
    "https://connect.example/e/5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e?elicitationId=5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e",
    "https://shop.example/cart?items=2&order=4711&ts=1700000000000#top",
    "https://mcp.example/ui/set_api_key",
    "https://docs.example/password-policy?lang=de",
    "https://git.example/a/b/commit/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "https://git.example/a/b/blob/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b/src/auth.ts",
    "https://registry.example/v2/a/blobs/sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://connect.example/auth/5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e?auth=google",
    "https://a.example/users/5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e/sessions",
    "https://docs.example/api-keys/how-to-rotate-them-since-2024-06",
    "https://docs.example/session/2026-keynote-and-closing-words",
    "https://shop.example/tickets;color=red;size=10/4711",
    "https://help.example/?ticket=PROJ-1234",
    "https://shop.example/?q=100%&r=%zz%ff",
  ];
  for (const address of good) t.same(judge(address), [], address);
});

t.test("addresses that readers read differently", async (t) => {
  const bad = [
    "",
    "connect.example",
    "//connect.example",
    "https:connect.example",
    "https:/connect.example",
    "https:///connect.example",
    "https://",
    "https:// connect.example",
    " https://connect.example",
    "https://connect.example ",
    "https://connect.example/a b",
    "https://connect\t.example/",
    "https://connect.example/\n",
    "https://connect.example\\@evil.example/",
    "https:\\\\connect.example",
    "https://connect.example/\u0000",
    "https://conn\u200bect.example/",
    "https://connect.example/\u202egnp.exe",
    "https://connect.example./",
    "https://.connect.example/",
    "https://connect..example/",
    "https://connect.example../",
    "https://[fe80::1%25eth0]/",
    "https://[::1%lo]/",
    "https://connect.example:443:80/",
    "https://connect.example:+443/",
    "https://connect.example\uff0fevil.example/",
    "https://connect.example%00.evil.example/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:0:127.0.0.1]/",
    "https://[::ffff:0:7f00:1]/",
    "https://[::ffff:0:0:1]/",
    "https://[::7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://connect%2eexample/",
    "https://ｃonnect.example/",
    "https://connect。example/",
    "https://connect.example:0443/",
    "https://connect.example:/",
    "https://connect.example:99999/",
    "https://connect.example:8o/",
    "https://exa mple/",
    "https://[::1/",
    `https://connect.example/${"a".repeat(MAX_URL)}`,
  ];
  for (const address of bad) t.same(judge(address), ["url"], JSON.stringify(address.slice(0, 60)));
  for (const scheme of ["javascript:alert(1)", "JaVaScRiPt://connect.example/%0aalert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "blob:https://a.example/1", "ftp://a.example", "ws://a.example", "intent://x", "about:blank", "mailto:a@b.example", "view-source:https://a.example"]) // biome-ignore format: one list
    t.same(judge(scheme), ["url_scheme"], scheme);
});

t.test("where it leads", async (t) => {
  t.same(judge("http://connect.example"), ["url-insecure http"]);
  for (const host of ["localhost", "localhost:3000", "127.0.0.1:80", "[::1]", "app.localhost"]) {
    t.same(judge(`http://${host}/`), ["url-insecure loopback"]);
    t.same(judge(`http://${host}/`, { loopbackHttp: true }), []);
  }
  t.same(judge("http://localhost.evil.example/", { loopbackHttp: true }), ["url-insecure http"]);
  t.same(judge("https://user@connect.example"), ["url-userinfo userinfo"]);
  t.same(judge("https://@connect.example"), ["url-userinfo userinfo"]);
  t.same(judge("https://connect.example%40evil.example/"), ["url"]);
  t.same(judge("https://idp.example/authorize?client_id=x"), ["url-own-issuer own_host"]);
  const hosts = (authority: string): boolean => authority === "connect.example";
  t.same(judge("https://connect.example/a?b=c", { hosts }), []);
  t.same(judge("https://CONNECT.example/other?q=x", { hosts }), []);
  for (const address of ["https://connect.example:8443/", "https://connect.example.evil.example/", "https://evil.example/?connect.example", "https://xconnect.example", "https://evil.example/connect.example", "https://evil.example#connect.example"]) // biome-ignore format: one list
    t.same(judge(address, { hosts }), ["url-host not_listed"], address);
});

t.test("names of hosts", async (t) => {
  t.same(judge("https://xn--e1afmkfd.example/"), ["url-punycode punycode"]);
  t.same(judge("https://p\u0430ypal.example/"), ["url-mixed-script mixed"]);
  t.same(judge("https://xn--pypal-4ve.example/"), ["url-punycode punycode", "url-mixed-script mixed"]);
  t.same(judge("https://\u0430\u0440\u0440\u04cf\u0435.com/"), ["url-mixed-script look_alike"]);
  for (const name of ["\u0261oogle", "\u028foutube", "p\u1d00ypal"])
    t.same(judge(`https://${name}.com/`), ["url-mixed-script look_alike"], name);
  for (const name of ["bank.example\u2044login", "bank.example\u2215login", "a\u2764b"])
    t.ok(judge(`https://${name}.evil.example/`).includes("url-mixed-script sign"), name);
  for (const name of ["faß.de", "łódź.pl", "café.fr", "ñandú.cl", "ŋ.example", "col·legi.cat", "a--b.example", "a_b.example", "[2001:db8::7]:8443"])
    t.same(judge(`https://${name}/`), [], name); // biome-ignore format: one list
  t.same(judge("https://сое.рф/"), [], "under a top level of its own script");
  t.same(judge("https://τest.example/"), ["url-mixed-script mixed"]);
});

t.test("what rides in it", async (t) => {
  const credentials: [query: string, kind: string][] = [
    ["?access_token=abcdef123", "named"],
    ["?api_key=abcdef123", "named"],
    ["?apikey=abcdef123", "named"],
    ["?p=1&password=hunter2", "named"],
    ["?code=SplxlOBeZQQYbYS6WxSbIA", "named"],
    ["?sid=abcdef123456", "named"],
    ["#id_token=abcdef123", "named"],
    ["#/cb?token=abcdef123", "named"],
    ["?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt"],
    ["/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt"],
    ["?x=ghp_0123456789abcdefghijABCDEFGHIJ012345", "vendor_token"],
    ["?x=AKIAIOSFODNN7EXAMPLE", "cloud_key"],
    ["?x=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "random"],
    ["?next=https%3A%2F%2Fb.example%2F%3Fclient_secret%3Dabcdef", "named"],
    ["?to%6ben=abcdef123", "named"],
    ["?x=%67hp_0123456789abcdefghijABCDEFGHIJ012345%ff", "vendor_token"],
    ["?x=%67hp_0123456789abcdefghijABCDEFGHIJ012345%", "vendor_token"],
    ["?%70assword%zz=hunter2", "named"],
    ["?sessid=abcdef123456", "named"],
    ["?auth=abcdef123456abcdef", "named"],
    [`session/${"4f3a9b2c".repeat(6)}`, "named"],
    ["a/sessions/5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e/approve", "named"],
    ["magic%2dlink/n0S6WzA2MjE9Melhoa2OwvFrEM", "named"],
    ["access-token/E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "named"],
    ["cb/token:E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw", "named"],
    ["a;jsessionid=ABCDEF1234567890", "named"],
    ["a;v=1;access_token=abcdef123/b", "named"],
    ["token=abcdef123/b", "named"],
    [`${"a/".repeat(300)}b`, "unread"],
    ["?acc\u0435ss_token=abcdef123", "named"],
    ["#/token/9f86d081884c7d659a2feaa0c55ad015", "named"],
    ["#!/session/9f86d081884c7d659a2feaa0c55ad015?x=1", "named"],
    ["reset-password/9f86d081884c7d659a2feaa0c55ad015", "named"],
    ["verify-email/abcdef0123456789abcdef0123456789", "named"],
    ["?mode=resetPassword&oobCode=abcDEF123456789", "named"],
  ];
  for (const [query, kind] of credentials)
    t.ok(
      judge(`https://a.example/${query}`).includes(`url-credentials ${kind}`),
      `${query}: ${judge(`https://a.example/${query}`)}`,
    );
  const personal: [query: string, kind: string][] = [
    ["?login_hint=zoe@b.example", "email"],
    ["?x=zoe%40b.example", "email"],
    ["?x=zoe%2540b.example", "email"],
    ["/zoe@b.example/x", "email"],
    ["?tel=%2B49%2030%201234567", "phone"],
    ["?x=+493012345678", "phone"],
    ["?x=4111-1111-1111-1111", "card"],
    ["?x=4111111111111111", "card"],
    ["?x=4111%C2%A01111%C2%A01111%C2%A01111", "card"],
    ["?x=DE89370400440532013000", "iban"],
    ["?x=123-45-6789", "national_id"],
    ["?first_name=Zo%C3%AB", "named"],
    ["#email=x", "named"],
  ];
  for (const [query, kind] of personal)
    t.ok(
      judge(`https://a.example/${query}`).includes(`url-personal-data ${kind}`),
      `${query}: ${judge(`https://a.example/${query}`)}`,
    );
  for (const harmless of ["?x=4111111111111112", "?x=1700000000000", "?x=DE89370400440532013001", "?x=000-45-6789", "?version=1.2.3", "?id=1234567890123456", "?x=@zoe", "?key=PROJ-1234", "#/docs/token-count", "#/commit/9f86d081884c7d659a2feaa0c55ad015", "reset-password", "reset-password?lang=de", `?${"a=b&".repeat(255)}`]) // biome-ignore format: one list
    t.same(judge(`https://a.example/${harmless}`), [], harmless);
  const many = `https://a.example/?${"a=b&".repeat(300)}token=abcdef123`;
  t.same(judge(many), ["url-credentials unread"], "nothing hides among hundreds");
  for (const query of ["?X-Amz-Signature=ab&X-Amz-Expires=60", "?AWSAccessKeyId=a&Signature=b&Expires=1", "?X-Goog-Signature=ab", "?sv=2022&sig=ab&se=2026", "?Key-Pair-Id=a&Signature=b", "?signature=ab&expires=1"]) // biome-ignore format: one list
    t.ok(judge(`https://a.example/o${query}`).includes("url-presigned signed"), query);
  t.notOk(
    judge("https://a.example/o?signature=handwritten&step=1").some((found) =>
      found.startsWith("url-presigned"),
    ),
  );
});
