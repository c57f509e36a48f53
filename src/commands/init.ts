/**
 * `sealgate init`: looks at an MCP server and an issuer, and writes a first configuration with its keys. Nothing is written
 * unless everything is in order, and nothing is written over.
 */
import { X509Certificate } from "node:crypto";
import { join, resolve } from "node:path";
import { type Listen, printListen } from "../config/addresses.ts";
import { loadConfig } from "../config/load.ts";
import { loadFile, loadSecret, SecretError, secretLine } from "../config/secret.ts";
import { ConfigError } from "../errors.ts";
import type { Facts, Form, PlannedFile } from "../init/facts.ts";
import { existing, writeAll } from "../init/folder.ts";
import { surveyIssuer } from "../init/issuer.ts";
import { nextSteps } from "../init/next-steps.ts";
import { CA_NAME, CA_PATH, configPath, KEY_FOLDER, plan, seenFrom, TOKEN_PATH } from "../init/plan.ts";
import { policyText } from "../init/policies.ts";
import { survey } from "../init/survey.ts";
import { Unsuitable } from "../init/unsuitable.ts";
import { openWire } from "../init/wire.ts";
import { generateSecret } from "../key-secret.ts";
import { createDocumentReader } from "../principal/document.ts";
import { EXIT } from "./exit.ts";
import type { Owner } from "./files.ts";

/** For one question to the server, and for one document of the issuer. */
const TIMEOUT_MS = 10_000;

/** What was asked for; texts are checked already. */
export interface InitOptions {
  readonly upstream: string;
  readonly issuer: string | undefined;
  readonly form: Form;
  readonly out: string;
  readonly listen: Listen;
  readonly publicUrl: string;
  /** Where the server's token is, if it needs one; a file's path is absolute. */
  readonly token: { readonly file: string } | { readonly env: string } | undefined;
  /** Absolute path of the authority of the server's certificate, if it is none that everybody trusts. */
  readonly authority: string | undefined;
  readonly isPortMoved: boolean;
  readonly program: string;
  readonly version: string;
}

/** Where a command's words go. */
export interface Say {
  readonly out: (text: string) => unknown;
  readonly err: (text: string) => unknown;
}

const STANDARD: Say = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/**
 * Says what was written and what to do next; warnings and problems on standard error.
 * @returns the exit code
 * @throws CannotWrite, ConfigError
 */
export async function init(options: InitOptions, say: Say = STANDARD): Promise<number> {
  const { form, upstream } = options;
  const out = resolve(options.out);
  const today = new Date().toISOString().slice(0, 10);
  // Not the bare date: as the name of a member, kustomize reads that as a time.
  const keyId = `key-${today}`;
  const problems: string[] = [];
  const token = await tokenOf(options.token, problems);
  const ca = await authorityOf(options.authority, problems);
  const copied = form !== "laptop" && token !== undefined;
  const owner = ownerOf(form);
  const taken = await takenPaths(
    out,
    [
      configPath(form),
      // Whatever else stands in that folder would be read as a key, too.
      KEY_FOLDER,
      ...(copied ? [TOKEN_PATH] : []),
      ...(form === "compose" && options.authority !== undefined ? [CA_PATH] : []),
      ...companions(form),
    ],
    problems,
  );
  const [catalogue, issuer] = await look(options, token, ca, problems);
  if (problems.length > 0 || catalogue === undefined) {
    for (const problem of problems) say.err(`sealgate: ${problem}\n`);
    say.err("sealgate: nothing was written\n");
    return taken ? EXIT.create[0] : EXIT.unavailable[0];
  }
  const facts: Facts = {
    form,
    upstream,
    seenUpstream: seenFrom(form, upstream),
    listen: printListen(options.listen),
    publicUrl: options.publicUrl,
    issuer,
    catalogue,
    policies: policyText(catalogue),
    keyId,
    credential: copied ? { file: `../${TOKEN_PATH}` } : options.token,
    today,
    version: options.version,
    program: options.program,
    isPortMoved: options.isPortMoved,
    // In a pod the server is on loopback, without TLS.
    authority:
      ca === undefined || form === "sidecar" ? undefined : form === "laptop" ? options.authority : CA_NAME,
    user: owner === undefined ? "1000:1000" : `${owner.uid}:${owner.gid}`,
  };
  const files = plan(facts, { key: generateSecret(), token: copied ? token : undefined, ca });
  await writeAll(out, files, owner, (draft) => checkDraft(draft, out, form, say));
  say.out(report(options.out, files, facts));
  return EXIT.ok[0];
}

/** The server's token; what is wrong with it goes to `problems`. */
async function tokenOf(at: InitOptions["token"], problems: string[]): Promise<string | undefined> {
  if (at === undefined) return undefined;
  try {
    return secretLine((await loadSecret(at, process.env)).bytes);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    problems.push(`--upstream-token-${"file" in at ? "file" : "env"}: ${error.message}`);
    return undefined;
  }
}

/** The authority of the server's certificate, PEM. */
async function authorityOf(file: string | undefined, problems: string[]): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    const { bytes } = await loadFile(file);
    new X509Certificate(bytes);
    return bytes.toString("latin1");
  } catch (error) {
    problems.push(
      `--upstream-ca: ${error instanceof SecretError ? error.message.replace(/ \(a relative.*/, "") : "the file holds no PEM certificate"}`,
    );
    return undefined;
  }
}

/** Whether any of the paths is there already; each that is goes to `problems`. */
async function takenPaths(out: string, paths: readonly string[], problems: string[]): Promise<boolean> {
  const taken = await existing(out, paths);
  for (const path of taken) problems.push(`${join(out, path)}: exists already and is never overwritten`);
  return taken.length > 0;
}

const companions = (form: Form): readonly string[] =>
  ({
    laptop: [],
    compose: ["docker-compose.yml"],
    sidecar: ["kustomization.yaml", "deployment.yaml", "service.yaml", "network-policy.yaml"],
  })[form];

/** Looks at server and issuer at once, so that the operator hears of both; the server only with its token. */
async function look(
  { upstream, issuer, token: wanted, authority }: InitOptions,
  token: string | undefined,
  ca: string | undefined,
  problems: string[],
) {
  const tell = (error: unknown): undefined => {
    if (!(error instanceof Unsuitable)) throw error;
    problems.push(error.message);
  };
  const wire = openWire(upstream, token, TIMEOUT_MS, ca);
  const reader = createDocumentReader(TIMEOUT_MS);
  try {
    return await Promise.all([
      (wanted !== undefined && token === undefined) || (authority !== undefined && ca === undefined)
        ? undefined
        : survey(wire, upstream).catch(tell),
      issuer === undefined ? undefined : surveyIssuer(issuer, reader).catch(tell),
    ]);
  } finally {
    reader.close();
    await wire.close();
  }
}

/** The person's own; for a container of root's, the user that the image has. */
function ownerOf(form: Form): Owner | undefined {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (form !== "compose" || uid === undefined || gid === undefined) return undefined;
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid };
}

/**
 * Says what `sealgate check` would say of the files, before they get their names and under these.
 * @throws ConfigError
 */
async function checkDraft(draft: string, out: string, form: Form, say: Say): Promise<void> {
  const named = (text: string): string => text.replaceAll(draft, () => out);
  try {
    const { warnings } = await loadConfig(join(draft, configPath(form)), process.env);
    for (const warning of warnings) say.err(`warning: ${named(warning)}\n`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((problem) => ({ ...problem, file: named(problem.file) }));
    throw new ConfigError(problems, error.warnings.map(named));
  }
}

function report(out: string, files: readonly PlannedFile[], facts: Facts): string {
  const written = files.map(
    ({ path, secret }) => `  ${join(out, path)}${secret ? "   (secret, mode 0600)" : ""}`,
  );
  return ["Written:", ...written, "", ...nextSteps(facts, (path) => join(out, path)), ""].join("\n");
}
