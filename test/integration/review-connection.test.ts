/** Checks of lost replies: they pass where a state is spent once, and fail where it is spent only by a reply that arrives. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Check, Finding, Session } from "../../src/review/check.ts";
import { CONNECTION_CHECKS } from "../../src/review/checks/connection.ts";
import {
  type BreakableOptions,
  type BreakableServer,
  startBreakableServer,
} from "../support/breakable-server.ts";
import { CALLS, openReviewed, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Runs one check; the reply that it loses is one that never comes. */
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
      ...session,
      retry: (asked, change) => {
        if (change?.cutAfterMs !== undefined) server.holdReply();
        return session.retry(asked, change);
      },
    });
  return { finding: await reviewed.run({ ...check, run }), server };
}

const PROBED = { call: CALLS.transfer, probe: "balance" };

for (const check of CONNECTION_CHECKS) {
  test(`${check.id} passes where a state is spent whether or not the reply arrives`, async () => {
    const { finding, server } = await find(check, {}, PROBED);
    assert.equal(finding.verdict, "pass", finding.words);
    // The map, the measured run, and what was lost.
    assert.equal(server.effects.length, 3);
    const kept = await find(check, { keepsResults: true }, PROBED);
    assert.equal(kept.finding.verdict, "pass", kept.finding.words);
    const several = await find(check, {}, { ...PROBED, call: CALLS.book });
    assert.equal(several.finding.verdict, "pass", several.finding.words);
  });

  test(`${check.id} fails where a state is spent only once the reply arrived`, async () => {
    const { finding, server } = await find(check, { broken: ["forgets-lost"] }, PROBED);
    assert.equal(finding.verdict, "fail", finding.words);
    assert.equal(server.effects.length, 4);
  });

  test(`${check.id} passes without a probe where the state is refused, and warns where a repeat is answered`, async () => {
    const plain = { call: CALLS.transfer };
    assert.equal((await find(check, {}, plain)).finding.verdict, "pass");
    assert.equal((await find(check, { keepsResults: true }, plain)).finding.verdict, "warn");
    assert.equal((await find(check, { broken: ["forgets-lost"] }, plain)).finding.verdict, "warn");
    assert.equal((await find(check, { broken: ["replay"] }, plain)).finding.verdict, "fail");
  });

  test(`${check.id} does not apply to what only reads, nor where the plan does not allow to accept`, async () => {
    assert.equal((await find(check, {}, { call: CALLS.briefing })).finding.verdict, "not_applicable");
    const call = { ...CALLS.transfer, complete: false };
    const { finding, server } = await find(check, {}, { call, map: false });
    assert.equal(finding.verdict, "not_applicable");
    assert.equal(server.effects.length, 0);
  });

  test(`${check.id} is inconclusive where honest answers get nowhere`, async () => {
    const { finding } = await find(check, { expiryMs: -1 }, { ...PROBED, map: false });
    assert.equal(finding.verdict, "inconclusive");
  });
}
