/** The authorities of clients: what is found wrong with their files when a configuration is read. */
import t from "tap";
import { createAuthority, hasOpenssl } from "../../support/certificates.ts";
import { load, SOUND } from "./load-text.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const TEXT = `${SOUND.replace(
  "authentication:\n",
  `authentication:
  clientCertificates:
    subject: san.uri
    header: { name: client-cert, format: rfc9440, from: [10.0.0.1], ca: { file: clients.crt } }
`,
)}server:
  listen: 127.0.0.1:8443
  publicUrl: https://mcp.example.com
  tls: { cert: { file: tls.crt }, key: { file: tls.key }, clientCa: { file: clients.crt } }
`;

t.test("files of authorities", { skip }, async (t) => {
  const root = await createAuthority(t);
  const own = await root.issue({ usage: "serverAuth" });
  const late = await createAuthority(t, { notAfter: "20240101000000Z" });
  const read = (clients: string) =>
    load(t, TEXT, { "tls.crt": own.cert, "tls.key": own.key, "clients.crt": clients });
  const sound = await read(root.cert);
  t.same(sound.problems, []);
  t.notMatch(sound.warnings.join("\n"), /clientCa|header/);
  t.ok(sound.loaded?.secrets.clientCa);
  t.ok(sound.loaded?.secrets.proxiedCa);
  for (const [text, message] of [
    ["", /holds? no|no PEM certificate|empty/],
    [own.cert, /the file holds no self-signed authority/],
    [root.cert + own.cert, /the file holds a certificate that is no authority's/],
    [root.cert + root.key, /not a PEM certificate/],
  ] as const) {
    const { problems } = await read(text);
    t.equal(problems.length, 2, problems.join("\n"));
    t.match(problems[0], /authentication\.clientCertificates\.header\.ca\.file: /);
    t.match(problems[1], /server\.tls\.clientCa\.file: /);
    for (const problem of problems) t.match(problem, message);
  }
  const { problems, warnings } = await read(late.cert);
  t.same(problems, []);
  t.equal(warnings.filter((line) => line.includes("only authorities that have expired")).length, 2);
  t.same((await read(late.cert + root.cert)).warnings, sound.warnings, "one that is good is enough");
});
