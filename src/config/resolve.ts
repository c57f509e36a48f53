/** Sections that passed every check → the configuration the rest of the program reads: defaults and overrides applied. */
import { resolve } from "node:path";
import { isLoopback, printListen } from "./addresses.ts";
import type { Config, Sections } from "./schema.ts";

type Required =
  | "version"
  | "server"
  | "authentication"
  | "envelope"
  | "roundTrip"
  | "redemption"
  | "capability"
  | "rules"
  | "limits";
type Always = Required | "authorization" | "routes" | "errors" | "audit" | "log";
/** All sections: those that have defaults, and the optional ones if they stand in the file. */
export type Whole = Pick<Sections, Always> & Partial<Pick<Sections, Exclude<keyof Sections, Always>>>;

const PATH_NAMES: ReadonlySet<string> = new Set(["file", "folder"]);

/** Makes each `file` and `folder` below `value` absolute: relative ones start at `folder`. Returns a copy. */
function absolute<T>(value: T, folder: string): T {
  if (Array.isArray(value)) return value.map((entry) => absolute(entry, folder)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [
    name,
    PATH_NAMES.has(name) && typeof member === "string" ? resolve(folder, member) : absolute(member, folder),
  ]);
  return Object.fromEntries(entries) as T;
}

/** Every file and folder that a resolved configuration refers to; those that are written to are not among them. */
export function referredTo(config: Config): { readonly files: string[]; readonly folders: string[] } {
  const found = { files: [] as string[], folders: [] as string[] };
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== "string") look(member);
      else if (name === "file") found.files.push(member);
      else if (name === "folder") found.folders.push(member);
    }
  };
  look(config);
  return found;
}

/**
 * Fills the defaults that depend on other sections and merges the overrides of routes.
 * @param folder what relative paths of files start from, absolute
 */
export function resolveConfig(sections: Whole, folder: string): Config {
  const { server, authentication, roundTrip, capability, rules, limits } = sections;
  const publicUrl = server.publicUrl ?? `http://${printListen(server.listen)}`;
  const quiet = authentication.mode === "anonymous" && isLoopback(server.listen.host);
  const config: Config = {
    ...sections,
    server: { ...server, publicUrl },
    envelope: { ...sections.envelope, audience: sections.envelope.audience ?? publicUrl },
    redemption: {
      ...sections.redemption,
      store: sections.redemption.store ?? (sections.redis === undefined ? "memory" : "redis"),
    },
    routes: sections.routes.map((route) => ({
      ...route,
      legacy: route.legacy ?? (quiet ? "pass" : "refuse"),
      roundTrip: { ...roundTrip, ...route.roundTrip },
      capability: { ...capability, ...route.capability },
      rules: { ...rules, ...route.rules },
      limits: { perPrincipal: { ...limits.perPrincipal, ...route.limits.perPrincipal } },
    })),
    audit: {
      ...sections.audit,
      sinks: sections.audit.sinks.map((sink) =>
        sink.type === "file" ? { ...sink, path: resolve(folder, sink.path) } : sink,
      ),
    },
  };
  return absolute(config, folder);
}
