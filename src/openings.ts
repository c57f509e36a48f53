/** What a configuration leaves open on purpose, said out loud each time it is taken up: whoever reads the log has to see it. */
import type { Config } from "./config/schema.ts";
import type { Log } from "./log.ts";

/** Route → whether callers without any credential are let in. */
export function anonymousRoutes({ authentication, routes }: Config): ReadonlyMap<string, boolean> {
  return new Map(routes.map(({ path }) => [path, authentication.mode === "anonymous"]));
}

/** Says that anybody may call, at start and each time another configuration is taken up. */
export function warnAnonymous(config: Config, log: Log): void {
  const routes = [...anonymousRoutes(config)].filter(([, open]) => open).map(([path]) => path);
  if (routes.length === 0) return;
  log.warn(
    { routes, listen: config.server.listen.host },
    "authentication.mode is anonymous: whoever reaches the listener may call, all callers without a credential are one principal, and a state is bound to none of them",
  );
}
