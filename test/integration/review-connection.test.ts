/** Checks of lost replies: they pass where a state is spent once, and fail where it is spent only by a reply that arrives. */
import t from "tap";
import type { Check, Finding, Session } from "../../src/review/check.ts";
import { CONNECTION_CHECKS } from "../../src/review/checks/connection.ts";
import {
  type BreakableOptions,
  type BreakableServer,
  startBreakableServer,
} from "../support/breakable-server.ts";
import { CALLS, openReviewed, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A session whose server took this long for the honest round trip, in milliseconds. */
const slow = (session: Session, ms = 250): Session => ({
  ...session,
  mapped: session.mapped.map((exchange) => ({ ...exchange, ms })),
});

/** Runs one check on a slow server; the reply that it loses is one that never comes. */
async function find(
  check: Check,
  options: BreakableOptions,
  review: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<{ finding: Finding; server: BreakableServer }> {
  const server = await startBreakableServer(options);
  open.push(server);
  const reviewed = await openReviewed({ ...server, ...review });
  open.push(reviewed);
  const run = (session: Session): Promise<Finding> =>
    check.run({
      ...slow(session),
      retry: (asked, change) => {
        if (change?.cutAfterMs !== undefined) server.holdReply();
        return session.retry(asked, change);
      },
    });
  return { finding: await reviewed.run({ ...check, run }), server };
}

const PROBED = { call: CALLS.transfer, probe: "balance" };

for (const check of CONNECTION_CHECKS) {
  t.test(`${check.id} passes where a state is spent whether or not the reply arrives`, async (t) => {
    const { finding, server } = await find(check, {}, PROBED);
    t.equal(finding.verdict, "pass", finding.words);
    // The map, the measured run, and what was lost.
    t.equal(server.effects.length, 3);
    const kept = await find(check, { keepsResults: true }, PROBED);
    t.equal(kept.finding.verdict, "pass", kept.finding.words);
    const several = await find(check, {}, { ...PROBED, call: CALLS.book });
    t.equal(several.finding.verdict, "pass", several.finding.words);
  });

  t.test(`${check.id} fails where a state is spent only once the reply arrived`, async (t) => {
    const { finding, server } = await find(check, { broken: ["forgets-lost"] }, PROBED);
    t.equal(finding.verdict, "fail", finding.words);
    t.equal(server.effects.length, 4);
  });

  t.test(
    `${check.id} passes without a probe where the state is refused, and warns where a repeat is answered`,
    async (t) => {
      const plain = { call: CALLS.transfer };
      t.equal((await find(check, {}, plain)).finding.verdict, "pass");
      t.equal((await find(check, { keepsResults: true }, plain)).finding.verdict, "warn");
      t.equal((await find(check, { broken: ["forgets-lost"] }, plain)).finding.verdict, "warn");
      t.equal((await find(check, { broken: ["replay"] }, plain)).finding.verdict, "fail");
    },
  );

  t.test(
    `${check.id} does not apply to what only reads, nor where the plan does not allow to accept`,
    async (t) => {
      t.equal((await find(check, {}, { call: CALLS.briefing })).finding.verdict, "not_applicable");
      const call = { ...CALLS.transfer, complete: false };
      const { finding, server } = await find(check, {}, { call, map: false });
      t.equal(finding.verdict, "not_applicable");
      t.equal(server.effects.length, 0);
    },
  );

  t.test(`${check.id} does not apply where every reply is faster, and counts those runs`, async (t) => {
    const server = await startBreakableServer();
    open.push(server);
    const reviewed = await openReviewed({ ...server, ...PROBED });
    open.push(reviewed);
    const faster = (times: number): Check["run"] => {
      let left = times;
      return (session) =>
        check.run({
          ...slow(session),
          retry: (asked, { cutAfterMs, ...change } = {}) => {
            if (cutAfterMs === undefined || left-- > 0) return session.retry(asked, change);
            server.holdReply();
            return session.retry(asked, { cutAfterMs });
          },
        });
    };
    t.equal((await reviewed.run({ ...check, run: faster(3) })).verdict, "not_applicable");
    t.equal((await reviewed.run({ ...check, run: faster(2) })).verdict, "pass");
    server.break("forgets-lost");
    t.equal((await reviewed.run({ ...check, run: faster(2) })).verdict, "fail");
  });

  t.test(`${check.id} passes where a repeat comes too early, and the next one is carried out`, async (t) => {
    const server = await startBreakableServer();
    open.push(server);
    const reviewed = await openReviewed({ ...server, ...PROBED });
    open.push(reviewed);
    const run: Check["run"] = (session) => {
      let cut = false;
      return check.run({
        ...slow(session),
        retry: async (asked, change = {}) => {
          if (change.cutAfterMs === undefined) {
            const isEarly = cut;
            cut = false;
            return session.retry(asked, isEarly ? { requestState: "of nobody" } : change);
          }
          cut = true;
          const received = {
            kind: "none",
            why: "cut",
            status: undefined,
            headers: {},
            words: "cut",
          } as const;
          return { ...asked.exchange, received };
        },
      });
    };
    const finding = await reviewed.run({ ...check, run });
    t.equal(finding.verdict, "pass", finding.words);
    t.equal(server.effects.length, 3);
  });

  t.test(`${check.id} is inconclusive where honest answers get nowhere`, async (t) => {
    const { finding } = await find(check, { expiryMs: -1 }, { ...PROBED, map: false });
    t.equal(finding.verdict, "inconclusive");
  });
}

t.test(
  "nobody gives up in the middle of what is over at once, so that it never depends on chance",
  async (t) => {
    const check = CONNECTION_CHECKS.find(({ id }) => id === "connection/timeout") as Check;
    for (const broken of [[], ["forgets-lost"], ["replay"]] as const)
      for (const ms of [0, 5, 199]) {
        const server = await startBreakableServer({ broken });
        open.push(server);
        const reviewed = await openReviewed({ ...server, ...PROBED });
        open.push(reviewed);
        const before = server.effects.length;
        const { verdict, words } = await reviewed.run({
          ...check,
          run: (session) => check.run(slow(session, ms)),
        });
        t.equal(verdict, "not_applicable", words);
        t.equal(server.effects.length, before, "nothing is carried out for it");
      }
  },
);
