/** Throw-away certificates for tests, made by the system's openssl. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { program } from "./debian.ts";

const run = promisify(execFile);

/** PEM files and their content. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** Whether the machine can make certificates; as root it gets what it needs. */
export async function hasOpenssl(): Promise<boolean> {
  return program("openssl", { debian: "openssl" }).then(
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

/** A certificate of an authority: what `issue` may say about it. */
export interface IssueOptions {
  /** As openssl writes it: `/CN=a/OU=b`. */
  readonly subject?: string;
  /** As in subjectAltName: `URI:spiffe://a/b`, `DNS:a`; or whole as `DER:…`. */
  readonly names?: readonly string[];
  /** `clientAuth`, `serverAuth`; absent for no extension. */
  readonly usage?: string | undefined;
  /** `YYYYMMDDHHMMSSZ`. */
  readonly notBefore?: string;
  readonly notAfter?: string;
  /** Of the signature; `sha256` when absent. */
  readonly digest?: string;
  /** Further lines of an openssl extension section. */
  readonly extensions?: readonly string[];
  /** Type and parameters for `openssl genpkey`. */
  readonly key?: readonly string[];
}

/** An authority, which makes certificates, also of further authorities. */
export interface Authority extends Certificate {
  issue(options?: IssueOptions): Promise<Certificate>;
  /** An authority below this one. */
  below(options?: IssueOptions): Promise<Authority>;
}

const EC = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/** A self-signed authority. */
export async function createAuthority(
  t: { teardown(run: () => unknown): void },
  options: IssueOptions = {},
): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-ca-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  let count = 0;

  async function make(
    signer: Certificate | undefined,
    given: IssueOptions,
    lines: string[],
  ): Promise<Certificate> {
    const number = ++count;
    const place = (name: string): string => join(folder, `${number}-${name}`);
    const [keyFile, certFile, request, extensions] = ["key.pem", "cert.pem", "csr.pem", "ext"].map(place) as [
      string,
      string,
      string,
      string,
    ];
    const config = place("ca.conf");
    await writeFile(place("index"), "");
    await writeFile(
      config,
      `[ca]
default_ca=one
[one]
database=${place("index")}
new_certs_dir=${folder}
rand_serial=yes
policy=any
[any]
commonName=optional
`,
    );
    await run("openssl", ["genpkey", ...(given.key ?? EC), "-out", keyFile]);
    await run("openssl", [
      "req",
      "-new",
      "-utf8",
      "-key",
      keyFile,
      "-subj",
      given.subject ?? `/CN=test ${number}`,
      "-out",
      request,
    ]);
    const names =
      given.names?.length === 1 && given.names[0]?.startsWith("DER:")
        ? given.names[0]
        : given.names?.join(",");
    await writeFile(
      extensions,
      [
        ...lines,
        ...(names === undefined ? [] : [`subjectAltName=${names}`]),
        ...(given.usage === undefined ? [] : [`extendedKeyUsage=${given.usage}`]),
        ...(given.extensions ?? []),
      ].join("\n"),
    );
    await run("openssl", [
      ...["ca", "-batch", "-notext", "-preserveDN", "-utf8", "-md", given.digest ?? "sha256"],
      ...["-config", config, "-in", request, "-out", certFile, "-extfile", extensions],
      ...(signer === undefined
        ? ["-selfsign", "-keyfile", keyFile]
        : ["-cert", signer.certFile, "-keyfile", signer.keyFile]),
      ...["-startdate", given.notBefore ?? "20200101000000Z"],
      ...["-enddate", given.notAfter ?? "20991231235959Z"],
    ]);
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    return { certFile, keyFile, cert, key };
  }

  async function authority(signer: Certificate | undefined, given: IssueOptions): Promise<Authority> {
    const basics = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"];
    const lines =
      given.extensions?.some((line) => line.startsWith("basicConstraints")) === true ? [] : basics;
    const made = await make(signer, given, lines);
    return {
      ...made,
      issue: (more = {}) => make(made, { usage: "clientAuth", ...more }, ["basicConstraints=CA:FALSE"]),
      below: (more = {}) => authority(made, more),
    };
  }

  return authority(undefined, options);
}
