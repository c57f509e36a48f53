/** The options of `sealgate init`, read from the command line. Everything wrong with them is told at once. */
import { resolve } from "node:path";
import { isLoopback, type Listen, parseListen, parseUrl, printListen } from "../config/addresses.ts";
import { FORMS, type Form } from "../init/facts.ts";
import { programAs } from "../init/program.ts";
import { programVersion } from "../program-version.ts";
import type { InitOptions } from "./init.ts";
import { UsageError } from "./usage-error.ts";

const USUAL_PORT = 8_080;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Stands where only the operator knows what clients see; the next steps say so. */
const EXAMPLE_ORIGIN = "https://mcp.example.com";

/** @throws UsageError with one sentence for each mistake */
export function readInitOptions(given: ReadonlyMap<string, string>): InitOptions {
  const wrong: string[] = [];
  const form = formOf(given.get("for") ?? "laptop", wrong);
  const upstream = given.get("upstream");
  if (upstream === undefined) wrong.push("init needs --upstream URL");
  else checkUrl("--upstream", upstream, true, wrong);
  const issuer = given.get("issuer");
  if (issuer !== undefined) checkUrl("--issuer", issuer, false, wrong);
  else if (form !== "laptop") {
    wrong.push(
      `--for ${form} needs --issuer: others than this machine can reach it, and nobody would be asked who they are`,
    );
  }
  const listen = listenOf(given.get("listen"), form, upstream, wrong);
  const publicUrl = publicUrlOf(given.get("public-url"), form, listen, wrong);
  const token = tokenOf(given, wrong);
  const authority = authorityOf(given.get("upstream-ca"), upstream, wrong);
  if (wrong.length > 0) throw new UsageError(wrong.join("\nsealgate: "));
  return {
    upstream: upstream ?? "",
    issuer,
    form,
    out: given.get("out") ?? "sealgate",
    listen,
    publicUrl,
    token,
    authority,
    isPortMoved: given.get("listen") === undefined && listen.port !== USUAL_PORT,
    program: programAs(process.argv[1] ?? "", process.cwd(), process.env["npm_command"] === "exec"),
    version: programVersion(),
  };
}

function formOf(text: string, wrong: string[]): Form {
  const form = FORMS.find((name) => name === text);
  if (form === undefined) wrong.push(`--for is none of ${FORMS.join(", ")}`);
  return form ?? "laptop";
}

function checkUrl(option: string, text: string, query: boolean, wrong: string[]): void {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:\/\//i.test(text))
    wrong.push(`${option} is not an http:// or https:// URL`);
  else if (url.username !== "" || url.password !== "") wrong.push(`${option} must not hold credentials`);
  else if (text.includes("#")) wrong.push(`${option} must not hold a fragment`);
  else if (!query && text.includes("?")) wrong.push(`${option} must not hold a query`);
}

/** Without the option a port that the server on the same machine does not have. */
function listenOf(
  text: string | undefined,
  form: Form,
  upstream: string | undefined,
  wrong: string[],
): Listen {
  const host = form === "laptop" ? "127.0.0.1" : "0.0.0.0";
  if (text === undefined) {
    const url = upstream === undefined ? undefined : parseUrl(upstream);
    const taken = url !== undefined && isLoopback(url.hostname) && url.port === "8080";
    return { host, port: taken ? 8_090 : USUAL_PORT };
  }
  const listen = parseListen(text);
  if (listen === undefined) wrong.push("--listen is not HOST:PORT");
  else if (listen.port === 0) wrong.push("--listen needs a port of its own, not 0");
  else if (form === "laptop" && !isLoopback(listen.host)) {
    wrong.push("--listen is no loopback address, which --for laptop needs");
  }
  return listen ?? { host, port: USUAL_PORT };
}

function publicUrlOf(text: string | undefined, form: Form, listen: Listen, wrong: string[]): string {
  if (text === undefined) {
    if (form === "sidecar") return EXAMPLE_ORIGIN;
    return form === "compose" ? `http://127.0.0.1:${listen.port}` : `http://${printListen(listen)}`;
  }
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== text) {
    wrong.push("--public-url is not an origin such as https://mcp.example.com");
  }
  return text;
}

function tokenOf(given: ReadonlyMap<string, string>, wrong: string[]): InitOptions["token"] {
  const file = given.get("upstream-token-file");
  const env = given.get("upstream-token-env");
  if (file !== undefined && env !== undefined) {
    wrong.push("--upstream-token-file and --upstream-token-env are given both");
  }
  if (env !== undefined && !VARIABLE.test(env)) {
    wrong.push("--upstream-token-env is not the name of an environment variable");
  }
  if (file !== undefined) return { file: resolve(file) };
  return env === undefined ? undefined : { env };
}

function authorityOf(
  file: string | undefined,
  upstream: string | undefined,
  wrong: string[],
): string | undefined {
  if (file === undefined) return undefined;
  if (upstream !== undefined && !/^https:/i.test(upstream))
    wrong.push("--upstream-ca goes with an https:// server");
  return resolve(file);
}
