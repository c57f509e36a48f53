/** Checks between the settings of the section `redis`. Pure. */
import { isLoopback, parseUrl } from "./addresses.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";

const KINDS = ["url", "sentinels", "cluster"] as const;

/** See the file's header. */
export function checkRedis({ redis }: Sound, report: Report): void {
  if (redis === undefined) return;
  const { url: text, sentinels, cluster } = redis;
  const given = KINDS.filter((kind) => redis[kind] !== undefined);
  if (given.length !== 1 && KINDS.every((kind) => !report.lost(["redis", kind]))) {
    const found =
      given.length === 0
        ? "holds neither url, sentinels nor cluster"
        : `holds ${given.join(" and ")} at once`;
    report.problem(["redis"], `${found}, allowed one of them`);
  }
  const url = text === undefined ? undefined : parseUrl(text);
  if (redis.tls !== undefined && url?.protocol === "redis:") {
    report.problem(["redis", "tls"], "needs a rediss:// URL, found redis:// in redis.url");
  }
  checkUser(["redis"], redis, report);
  if (sentinels !== undefined) checkUser(["redis", "sentinels"], sentinels, report);
  const inClear = "is not encrypted: the password crosses the network in clear";
  if (url?.protocol === "redis:" && !isLoopback(url.hostname) && redis.password !== undefined) {
    report.warning(["redis", "url"], inClear);
  }
  const known = !report.lost(["redis", "tls"]) && !report.lost(["redis", "sentinels", "tls"]);
  const far = (nodes: readonly { host: string }[] = []) => nodes.some(({ host }) => !isLoopback(host));
  if (known && far(cluster?.nodes) && redis.password !== undefined && redis.tls === undefined) {
    report.warning(["redis", "cluster"], `${inClear}, set redis.tls`);
  }
  if (known && far(sentinels?.nodes)) {
    const open = redis.password !== undefined && redis.tls === undefined;
    if (open) report.warning(["redis", "sentinels"], `${inClear}, set redis.tls`);
    if (sentinels?.password !== undefined && sentinels.tls === undefined) {
      report.warning(["redis", "sentinels", "password"], `${inClear}, set redis.sentinels.tls`);
    }
  }
  if (cluster !== undefined && !report.lost(["redis", "keyPrefix"]) && redis.keyPrefix.includes("{")) {
    report.problem(
      ["redis", "keyPrefix"],
      "holds a {, which would put all keys of a Cluster on one server, allowed a prefix without",
    );
  }
}

function checkUser(
  path: Step[],
  { username, password }: { username?: string | undefined; password?: unknown },
  report: Report,
): void {
  if (username === undefined || password !== undefined || report.lost([...path, "password"])) return;
  report.problem([...path, "username"], `needs ${path.join(".")}.password`);
}
