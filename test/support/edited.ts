/** The program itself with a configuration that a test edits as an operator would: in a folder of its own, from outside. */
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { exchange, type Message, meta, mirrored, PUBLIC_URL, type Reply } from "./gateway.ts";
import { type GatewayProcess, type OutputLine, runProcess } from "./process.ts";

type Sections = Readonly<Record<string, unknown>>;

export const TAKEN_UP = "configuration taken up";
export const NOT_TAKEN = "the configuration was not taken up, the one before stays in force";

export interface Edited extends GatewayProcess {
  readonly folder: string;
  /** The configuration file. */
  readonly file: string;
  /** Writes a file into the folder, whole at once. */
  put(name: string, text: string): Promise<void>;
  /** Replaces sections of the configuration; does not wait. */
  configure(sections: Sections): Promise<void>;
  /** Does something to the files, and waits for the line of the log that says that it was taken up, or `told`. */
  change(what: () => unknown, told?: string): Promise<OutputLine>;
  send(message: Message, options?: { path?: string; headers?: Record<string, string> }): Promise<Reply>;
  /** The value of a metric without labels. */
  metric(name: string): Promise<number>;
}

let nextId = 1;

/** The sections that a test does not name. */
export const BASE: Sections = {
  version: 1,
  server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"] },
  admin: { listen: "127.0.0.1:0" },
  authentication: { mode: "anonymous" },
  authorization: { default: "allow" },
};

/** Starts it; process and folder end with the test. */
export async function startEdited(
  t: { teardown(run: () => unknown): void },
  sections: Sections,
  files: Readonly<Record<string, string>> = {},
): Promise<Edited> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-edited-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "sealgate.yaml");
  const put = async (name: string, text: string): Promise<void> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(join(dirname(path), ".draft"), text, { mode: 0o600 });
    await rename(join(dirname(path), ".draft"), path);
  };
  for (const [name, text] of Object.entries(files)) await put(name, text);
  let config: Sections = { ...BASE, ...sections };
  await put("sealgate.yaml", stringify(config));
  const gateway = await runProcess(t, file);
  return {
    ...gateway,
    folder,
    file,
    put,
    async configure(changed) {
      config = { ...config, ...changed };
      await put("sealgate.yaml", stringify(config));
    },
    async change(what, told = TAKEN_UP) {
      const before = gateway.lines.length;
      await what();
      return gateway.line((line) => line["msg"] === told && gateway.lines.indexOf(line) >= before);
    },
    send: (message, options = {}) =>
      exchange(gateway.url, {
        headers: { ...mirrored(message), ...options.headers },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: nextId++,
          method: message.method,
          params: { _meta: meta(), ...message.params },
        }),
        ...(options.path === undefined ? {} : { path: options.path }),
      }),
    async metric(name) {
      const { body } = await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" });
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1] ?? "NaN");
    },
  };
}
