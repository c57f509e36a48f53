/** What docs/upstream-credentials.md shows is sound, with the key that its own command makes. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parse, stringify } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { createAuthority } from "../support/certificates.ts";
import { fences, page } from "../support/markdown.ts";

const shown = fences(page("docs/upstream-credentials.md"));
const authority = await createAuthority(t);
const pair = await authority.issue();

t.test("the examples", async (t) => {
  const examples = shown.filter(({ language }) => language === "yaml");
  t.equal(examples.length, 3);
  const folder = t.testdir({});
  mkdirSync(join(folder, "secrets"));
  for (const { body } of shown.filter(({ language }) => language === "sh"))
    execFileSync("sh", ["-c", body], { cwd: folder, stdio: "ignore" });
  writeFileSync(join(folder, "secrets/client-secret"), "client-secret\n", { mode: 0o600 });
  copyFileSync(authority.certFile, join(folder, "secrets/internal-ca.crt"));
  copyFileSync(pair.certFile, join(folder, "secrets/gateway.crt"));
  copyFileSync(pair.keyFile, join(folder, "secrets/gateway.key"));
  for (const { body } of examples) {
    const { upstream, ...sections } = parse(body) as Record<string, unknown>;
    const file = join(folder, "sealgate.yaml");
    const base = {
      version: 1,
      authentication: { issuers: [{ issuer: "https://login.example.com" }] },
      authorization: { policies: [{ id: "all", effect: "allow" }] },
    };
    writeFileSync(
      file,
      stringify({
        ...base,
        ...sections,
        ...(upstream === undefined ? {} : { routes: [{ path: "/mcp", upstream }] }),
      }),
    );
    const { warnings, config } = await loadConfig(file, {});
    t.same(
      warnings.filter((line) => !line.includes("keys: is absent")),
      [],
    );
    t.equal(config.routes.length, 1);
  }
});
