/** Clients that play rounds without a pause while something is done to the gateways: what is lost is counted. */
import type { Message, Reply } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

/** Rounds that must pass between two steps, unless told otherwise. */
export const ENOUGH = 12;

/** Something that takes a message: a replica, or whatever stands in front of several. */
export interface Sender {
  send(message: Message, body: string): Promise<Reply>;
}

export interface Traffic {
  readonly seen: {
    /** Rounds that came to their end, and those that did not. */
    done: number;
    lost: number;
    /** Key ids of the states, as they stand in them. */
    readonly keyIds: Set<string>;
    /** What the lost ones got. */
    readonly losses: string[];
  };
  /** Waits for the end of all rounds that are open now: what one `envelope.ttl` stands for. */
  settle(): Promise<void>;
  /** Waits until enough more rounds are over. */
  more(): Promise<void>;
  stop(): Promise<void>;
}

/** How much traffic. */
export interface Pace {
  readonly clients?: number;
  readonly enough?: number;
  /** Milliseconds between two rounds of a client: leaves the processor to processes that start. */
  readonly pause?: number;
}

let nextId = 1_000;

/**
 * Starts the clients.
 * @param pick who takes the first request (`half` 0) and who the answer (1) of a client's turn; asked when each is sent
 */
export function startTraffic(
  pick: (turn: number, client: number, half: 0 | 1) => Sender,
  { clients: count = 6, enough = ENOUGH, pause = 0 }: Pace = {},
): Traffic {
  const seen: Traffic["seen"] = { done: 0, lost: 0, keyIds: new Set(), losses: [] };
  const open = new Set<Promise<void>>();
  let stopped = false;
  const send = (sender: Sender, message: Message) => sender.send(message, textOf(String(nextId++), message));
  const round = async (turn: number, client: number): Promise<void> => {
    try {
      await play(turn, client);
    } catch (error) {
      seen.lost += 1;
      seen.losses.push(String(error));
    }
  };
  const play = async (turn: number, client: number): Promise<void> => {
    const asked = await send(pick(turn, client, 0), TRANSFER);
    const state: unknown = asked.json?.result?.requestState;
    const reply =
      typeof state === "string" ? await send(pick(turn, client, 1), retryOf(stateOf(asked))) : asked;
    if (typeof state === "string") seen.keyIds.add(state.slice(4, 9));
    if (reply.status === 200 && reply.json.result.resultType === "complete") {
      seen.done += 1;
    } else {
      seen.lost += 1;
      seen.losses.push(`${reply.status} ${reply.body}`);
    }
  };
  const clients = Array.from({ length: count }, async (_, client) => {
    for (let turn = client; !stopped; turn += 1) {
      const one = round(turn, client);
      open.add(one);
      await one.finally(() => open.delete(one));
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  });
  return {
    seen,
    settle: async () => void (await Promise.all([...open])),
    async more() {
      const before = seen.done + seen.lost;
      await until(() => seen.done + seen.lost >= before + enough);
    },
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}
