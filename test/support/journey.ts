/** A journey without a listener, for tests of what judges messages: a real one, on a route that is made up. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Route } from "../../src/call.ts";
import { Journey } from "../../src/journey.ts";
import { compileModes, type SetModes } from "../../src/rules/modes.ts";
import { SeenLists } from "../../src/seen-lists.ts";
import { recordingLog } from "./authentication.ts";

/** What of a journey a test may see. */
export interface TestJourney {
  readonly journey: Journey;
  /** `rule mode` of each finding that was counted. */
  readonly counted: string[];
  readonly log: ReturnType<typeof recordingLog>;
}

/** Makes a journey on a route with this configuration. */
export function testJourney(config: unknown = { path: "/mcp" }, modes: SetModes = {}): TestJourney {
  const raw = Object.assign(new EventEmitter(), { writableFinished: false });
  const counted: string[] = [];
  const log = recordingLog();
  const route = { config, modes: compileModes({ ...modes, tools: [] }), seen: new SeenLists() };
  const journey = new Journey(
    "r-1",
    route as unknown as Route,
    raw as unknown as ServerResponse,
    {
      audit: { write: () => undefined, losses: () => new Map(), close: async () => undefined },
      metrics: {
        observe: () => undefined,
        redemption: () => undefined,
        spans: () => undefined,
        keepRoutes: async () => undefined,
        introspection: () => undefined,
        result: () => undefined,
        credential: () => undefined,
        approval: () => undefined,
        finding: (_route, rule, mode) => void counted.push(`${rule} ${mode}`),
        expose: async () => ({ type: "", text: "" }),
      },
      log,
      now: () => 0,
    },
    () => undefined,
  );
  return { journey, counted, log };
}
