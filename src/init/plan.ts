/** What the operator asked for and what was found out → the files. Pure. */
import { isLoopback } from "../config/addresses.ts";
import { composeFile, HOST } from "./compose.ts";
import { configuration } from "./configuration.ts";
import type { Facts, Form, PlannedFile } from "./facts.ts";
import { sidecarFiles } from "./sidecar.ts";

/** Where the configuration stands, from the folder on. */
export const configPath = (form: Form): string =>
  form === "laptop" ? "sealgate.yaml" : "config/sealgate.yaml";

/** Where a copy of the server's token stands, for forms that cannot reach the operator's own. */
export const TOKEN_PATH = "upstream/token";

/** Name of the authority of the server's certificate, beside the configuration, where it is copied. */
export const CA_NAME = "upstream-ca.crt";

/** Where that copy stands. */
export const CA_PATH = `config/${CA_NAME}`;

/** Where the keys stand. */
export const KEY_FOLDER = "keys";

/** A secret that is written. */
export interface Secrets {
  /** The text of the key file. */
  readonly key: string;
  /** The server's token, where it is copied. */
  readonly token: string | undefined;
  /** PEM of the authority of the server's certificate. */
  readonly ca: string | undefined;
}

/** All files of a form, the configuration first. */
export function plan(facts: Facts, { key, token, ca }: Secrets): readonly PlannedFile[] {
  const { form, keyId } = facts;
  const more = form === "sidecar" ? sidecarFiles(facts) : form === "compose" ? [compose(facts)] : [];
  return [
    { path: configPath(form), text: configuration(facts), secret: false },
    { path: `${KEY_FOLDER}/${keyId}`, text: `${key}\n`, secret: true },
    ...(token === undefined ? [] : [{ path: TOKEN_PATH, text: `${token}\n`, secret: true }]),
    ...(ca === undefined || form !== "compose" ? [] : [{ path: CA_PATH, text: ca, secret: false }]),
    ...more,
  ];
}

const compose = (facts: Facts): PlannedFile => ({
  path: "docker-compose.yml",
  text: composeFile(facts),
  secret: false,
});

/**
 * The server's URL from where the gateway will run: a container finds the machine under another name than the machine itself,
 * and in a pod the server is on loopback.
 * @param upstream the URL from here, http or https
 */
export function seenFrom(form: Form, upstream: string): string {
  const url = new URL(upstream);
  if (form === "sidecar") {
    url.protocol = "http:";
    const port = url.port === "" ? "3001" : url.port;
    return `http://127.0.0.1:${port}${url.pathname}${url.search}`;
  }
  if (form === "compose" && isLoopback(url.hostname)) {
    url.hostname = HOST;
    return url.href;
  }
  return upstream;
}
