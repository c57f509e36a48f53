/** What a server puts into its own state is looked at before it is sealed, and told by kind and size only. */
import t from "tap";
import { answers, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url } },
      {
        path: "/strict",
        upstream: { url },
        rules: { "mrtr/state-credentials": "enforce", "mrtr/state-personal-data": "enforce" },
      },
    ],
  }),
});
const says = (state: string): void => {
  scene.upstream.script = answers(JSON.stringify({ resultType: "input_required", requestState: state }));
};
const STATES: [state: string, rule: string, detail: string][] = [
  ['{"step":2,"apiKey":"LEAK-4711"}', "mrtr/state-credentials", "credential_named_to_256"],
  [
    Buffer.from('{"password":"LEAK-4711"}').toString("base64url"),
    "mrtr/state-credentials",
    "credential_named_to_256",
  ],
  [`ghp_${"LEAK".repeat(9)}`, "mrtr/state-credentials", "credential_vendor_token_to_256"],
  [`${"x".repeat(2000)} leak@b.example`, "mrtr/state-personal-data", "personal_email_to_4k"],
  ["card 4111 1111 1111 1111", "mrtr/state-personal-data", "personal_card_to_256"],
];

t.test("reported by default, and never a word of it", async (t) => {
  for (const [state, id, detail] of STATES) {
    says(state);
    const reply = await scene.gateway.call(TRANSFER);
    t.equal(reply.status, 200);
    t.match(scene.gateway.audit.at(-1)?.rules, [{ id, mode: "report", detail }], detail);
    t.notMatch(JSON.stringify(scene.gateway.audit.at(-1)), /LEAK|leak@|4111 1|x{9}/);
  }
});

t.test("enforced where the operator says so", async (t) => {
  for (const [state, id] of STATES) {
    says(state);
    const reply = await scene.gateway.call(TRANSFER, { path: "/strict" });
    t.match(reply.json.error, { code: -32603, data: { reason: "upstream_fault" } });
    t.notMatch(reply.body, /LEAK|leak@|4111 1|sg1\./);
    t.match(scene.gateway.audit.at(-1)?.rules, [{ id, mode: "enforce" }]);
  }
});

t.test("honest: a state that only the server understands", async (t) => {
  for (const state of ["", "step=2", '{"to":"acct-9","amount":50}', "9f86d081884c7d659a2feaa0c55ad015"]) {
    says(state);
    t.equal((await scene.gateway.call(TRANSFER, { path: "/strict" })).status, 200, state);
    t.equal(scene.gateway.audit.at(-1)?.rules, undefined);
  }
});
