import t from "tap";
import { nearest } from "../../../src/config/nearest.ts";

const known = ["listen", "publicUrl", "allowedHosts", "shutdownGrace", "tls", "limits", "constructor"];

t.test("finds what was meant", async (t) => {
  const pairs: [string, string][] = [
    ["lsiten", "listen"],
    ["Listen", "listen"],
    ["public_url", "publicUrl"],
    ["public-url", "publicUrl"],
    ["publicURL", "publicUrl"],
    ["allowedHost", "allowedHosts"],
    ["shutdown_grace", "shutdownGrace"],
    ["limit", "limits"],
    ["tsl", "tls"],
  ];
  for (const [name, meant] of pairs) t.equal(nearest(name, known), meant, name);
});

t.test("is silent when nothing is near", async (t) => {
  for (const name of ["", "zzz", "rules", "introspection", "x", "__proto__", "a".repeat(100_000)]) {
    t.equal(nearest(name, known), undefined, name.slice(0, 20));
  }
  t.equal(nearest("listen", []), undefined);
});
