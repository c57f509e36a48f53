import t from "tap";
import { compileAddresses } from "../../../src/capability/addresses.ts";
import type { Config } from "../../../src/config/schema.ts";

function compile(url: Config["capability"]["url"], publicUrl = "https://gateway.example") {
  const config = {
    server: { publicUrl },
    authentication: {
      issuers: [{ issuer: "https://idp.example/tenant" }, { issuer: "http://localhost:9000" }],
    },
  } as unknown as Config;
  return compileAddresses(config, { capability: { url } } as unknown as Config["routes"][number]);
}

t.test("hosts", async (t) => {
  t.equal(compile({}).hosts, undefined, "none listed: any");
  t.equal(compile({ hosts: [] }).hosts?.("connect.example"), false, "an empty list: none");
  const { hosts } = compile({ hosts: ["Connect.example", "*.idp.example", "bücher.example", "*.bücher.example:8443", "localhost:*", "[2001:DB8::1]"] }); // biome-ignore format: one list
  for (const host of ["connect.example", "a.idp.example", "a.b.idp.example", "xn--bcher-kva.example", "x.xn--bcher-kva.example:8443", "localhost:3000", "[2001:db8::1]"]) // biome-ignore format: one list
    t.equal(hosts?.(host), true, host);
  for (const host of ["xconnect.example", "connect.example:8443", "idp.example", "connect.example.evil.example", "localhost", "[2001:db8::2]"]) // biome-ignore format: one list
    t.equal(hosts?.(host), false, host);
});

t.test("http to this machine is for a gateway that is nobody else's", async (t) => {
  t.equal(compile({}).loopbackHttp, false);
  t.equal(compile({ loopbackHttp: true }).loopbackHttp, true);
  for (const url of ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"]) {
    t.equal(compile({}, url).loopbackHttp, true, url);
    t.equal(compile({ loopbackHttp: false }, url).loopbackHttp, false, url);
  }
});

t.test("own hosts are those of gateway and issuers, but for the name all of one machine share", async (t) => {
  t.same(Array.from(compile({}).ownHosts), ["gateway.example", "idp.example"]);
});
