/** The official conformance suite, against a server directly and through the gateway: nothing differs but what is meant to. */
import t from "tap";
import { BY_DESIGN, compare, differences } from "../../conformance/comparison.ts";
import { faultsOf } from "../../conformance/report.ts";
import { startConformanceServer } from "../../conformance/server.ts";
import { proveGateway } from "../../conformance/through.ts";

t.setTimeout(240_000);

t.test("every check comes out as it does without the gateway", async (t) => {
  const found = await compare();
  t.same(faultsOf(found), []);
  t.ok(found.direct.size >= 150, `${found.direct.size} checks`);
  t.same(differences(found.direct, found.through), BY_DESIGN);
});

t.test("a fault is told by what is compared", async (t) => {
  const good = new Map([["a: 1", "SUCCESS"] as const]);
  const bad = new Map([["a: 1", "FAILURE"] as const]);
  t.same(differences(good, bad), [{ check: "a: 1", direct: "SUCCESS", through: "FAILURE" }]);
  t.same(differences(good, new Map()), [{ check: "a: 1", direct: "SUCCESS", through: "absent" }]);
  const faults = faultsOf({
    direct: good,
    through: bad,
    forwarding: good,
    careless: { direct: good, through: bad },
  });
  t.equal(faults.length, 4);
});

t.test("a run past the gateway, or into a closed port, is no run", async (t) => {
  const server = await startConformanceServer();
  await t.rejects(proveGateway(server.url), /no gateway answers/);
  await server.close();
  await t.rejects(proveGateway(server.url));
});
