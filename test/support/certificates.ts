/** Throw-away certificates for tests, made by the system's openssl. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** PEM files and their content. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** Whether the machine can make certificates. */
export async function hasOpenssl(): Promise<boolean> {
  return run("openssl", ["version"]).then(
    () => true,
    () => false,
  );
}

/** A self-signed certificate that is its own authority. `names` as in subjectAltName: `DNS:a`, `IP:127.0.0.1`. */
export async function selfSigned(
  t: { teardown(run: () => unknown): void },
  names: readonly string[],
): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-tls-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, "key.pem");
  const certFile = join(folder, "cert.pem");
  await run("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-subj", "/CN=sealgate test", "-addext", `subjectAltName=${names.join(",")}`, "-days", "2"],
    ...["-keyout", keyFile, "-out", certFile],
  ]);
  const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  return { certFile, keyFile, cert, key };
}
