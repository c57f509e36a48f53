/** docker-compose.yml as data for tests, and what of the Dockerfile goes with it: nothing of it is written down twice. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "./markdown.ts";

export interface HealthCheck {
  /** `CMD` and words, or `CMD-SHELL` and a line for a shell. */
  readonly test: readonly string[];
}

/** One service; lists are empty where the file has none. */
export interface Service {
  readonly image: string;
  readonly target: string | undefined;
  readonly entrypoint: readonly string[] | undefined;
  readonly command: readonly string[];
  readonly networks: readonly string[];
  readonly secrets: readonly string[];
  readonly volumes: readonly { readonly source: string; readonly target: string }[];
  readonly ports: readonly string[];
  readonly healthcheck: HealthCheck | undefined;
  readonly dependsOn: readonly string[];
  readonly replicas: number;
  /** In milliseconds. */
  readonly stopGrace: number;
  readonly stopSignal: NodeJS.Signals;
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  /** Name → file, from the project's folder. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly networks: Readonly<Record<string, { readonly internal: boolean }>>;
}

/** Reads the file; variables get their defaults. */
export function readCompose(): Compose {
  const text = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
  // biome-ignore lint/suspicious/noExplicitAny: what the file holds is compared with what Compose makes of it elsewhere
  const file: any = parse(text, (_key, value) => interpolate(value), { merge: true });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const mapped = <T>(part: any, take: (value: any) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(part).map(([name, value]) => [name, take(value)]));
  return {
    services: mapped(file.services, (it) => ({
      image: it.image,
      target: it.build?.target,
      entrypoint: it.entrypoint,
      command: it.command ?? [],
      networks: it.networks ?? [],
      secrets: it.secrets ?? [],
      volumes: it.volumes ?? [],
      ports: it.ports ?? [],
      healthcheck: it.healthcheck,
      dependsOn: Object.keys(it.depends_on ?? {}),
      replicas: it.deploy?.replicas ?? 1,
      stopGrace: Number.parseInt(it.stop_grace_period ?? "10s", 10) * 1000,
      stopSignal: it.stop_signal ?? "SIGTERM",
    })),
    secrets: mapped(file.secrets, ({ file }) => file),
    networks: mapped(file.networks, ({ internal = false }) => ({ internal })),
  };
}

function interpolate(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.replaceAll(/\$\{\w+:-([^}]*)\}|\$\$/g, (all, fallback = "") =>
    all === "$$" ? "$" : fallback,
  );
}

/** ENTRYPOINT of a target of the Dockerfile. */
export function entrypointOf(target: string): string[] {
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const stage = new RegExp(
    `^FROM \\S+ AS ${target}\\n(?:(?!FROM )[^\\n]*\\n)*?ENTRYPOINT (\\[.*\\])$`,
    "m",
  ).exec(text);
  return JSON.parse(stage?.[1] ?? "[]") as string[];
}
