/**
 * What audit records tell, as steps between caller, gateway and server. Pure: it makes words and no elements, and texts of others go
 * through unchanged, to be shown as text.
 */

/** The id under which a record is shown: its chain, or itself. */
export function tripOf({ type, chain, brought, requestId, entry }) {
  const found = type === "admin" ? entry?.chain : (chain ?? brought?.chain);
  return found === undefined ? { id: requestId, chain: undefined } : { id: found, chain: found };
}

const OUTCOMES = {
  preflight: ["answered without a call", "note"],
  complete: ["complete", "good"],
  tool_error: ["tool failed", "note"],
  input_required: ["user is asked", "waits"],
  task: ["task goes on", "waits"],
  error: ["server error", "note"],
  accepted: ["accepted", "good"],
  stream: ["stream", "note"],
  refused: ["refused", "bad"],
  cancelled: ["caller left", "note"],
};

/** How a record ended, as a word and a tone. */
export function endOf(record) {
  if (record.type === "admin") {
    const tone = record.outcome === "done" ? "note" : "bad";
    return { word: `${record.action} ${record.outcome}`, tone };
  }
  if (record.code === "approval_pending") return { word: "waits for others", tone: "waits" };
  const [word, tone] = OUTCOMES[record.outcome] ?? [record.outcome, "note"];
  return { word, tone };
}

/** One line on records of one trip, oldest first. */
export function summaryOf(records) {
  const audits = records.filter(({ type }) => type === "audit");
  const own = audits.find(({ chain }) => chain !== undefined) ?? audits[0];
  // What is refused ends a trip only if it spent the state: others' attempts, and replays, change nothing about it.
  const chained = audits.filter(
    ({ chain, outcome, state, code }) =>
      chain !== undefined && (outcome !== "refused" || state === "redeemed" || code === "approval_pending"),
  );
  const last = chained.at(-1) ?? records.at(-1);
  return {
    call: own === undefined ? `operator: ${records[0].action}` : callOf(own),
    route: own?.route,
    who: own === undefined ? (records[0].entry?.by ?? "operator") : whoOf(own.principal),
    end: endOf(last),
    rounds: audits.reduce((most, { round = 0 }) => Math.max(most, round), 0),
    refusals: audits.filter(({ outcome }) => outcome === "refused").length,
    codes: [...new Set(audits.flatMap(({ outcome, code }) => (outcome === "refused" ? [code] : [])))],
    first: records[0].time,
    last: records.at(-1).time,
  };
}

export const callOf = ({ method, target }) =>
  target === undefined ? (method ?? "no method") : `${method ?? "?"} ${target.kind} ${target.name}`;

export function whoOf(principal) {
  if (principal === undefined) return "unknown caller";
  if (principal.anonymous) return "anonymous";
  return principal.subject ?? "?";
}

/** Who approved, whether a person or an operator. */
export const approverOf = (by) =>
  by.operator === undefined ? `${by.subject} of ${by.issuer}` : `operator ${by.operator}`;

/**
 * The steps of one record: `from` and `to` are caller, gateway, server; `tone` is plain, good, bad, waits or note; `facts` are pairs
 * of a name and a text; `more` are those that few look for.
 */
export const stepsOf = (record) => (record.type === "admin" ? deedSteps(record) : decisionSteps(record));

const step = (from, to, tone, title, facts = []) => {
  const told = facts.filter(([, text]) => text !== undefined && text !== "");
  return {
    ...{ from, to, tone, title },
    facts: told.filter(([name]) => !LESSER.test(name)),
    more: told.filter(([name]) => LESSER.test(name)),
  };
};
const LESSER =
  /^(known by|from|state|chain|can be asked|calls itself|parameters|request|good for at most|words shown|form shown|entry|(form|url|sampling|roots) (key|message|schema|url|params))$/;
const note = (tone, title, facts) => step("gateway", "gateway", tone, title, facts);

function decisionSteps(record) {
  return [
    callStep(record),
    ...ruleSteps(record),
    ...approvalSteps(record),
    ...spentSteps(record),
    ...serverSteps(record),
    ...sealSteps(record),
    answerStep(record),
  ];
}

function callStep(record) {
  const { brought, principal, approval, answers, declared, client } = record;
  const said = approval?.action === undefined ? answers?.join(", ") : approval.action;
  return step("caller", "gateway", "plain", callOf(record), [
    [
      "who",
      principal?.issuer === undefined ? whoOf(principal) : `${whoOf(principal)} of ${principal.issuer}`,
    ],
    ["known by", [record.authenticatedBy, ...(record.confirmedBy ?? [])].filter(Boolean).join(", ")],
    ["from", record.address],
    ["answers", said],
    ["state", brought?.jti],
    [
      "of another chain",
      brought !== undefined && record.chain !== undefined && brought.chain !== record.chain
        ? brought.chain
        : undefined,
    ],
    ["can be asked", declared?.join(", ")],
    [
      "calls itself",
      client === undefined ? undefined : `${client.name ?? "?"} ${client.version ?? ""}`.trim(),
    ],
    ["policy", record.policy],
    ["data", record.sensitivity?.join(", ")],
    ["parameters", record.params],
    ["request", record.requestId],
  ]);
}

const ruleSteps = ({ rules = [], outcome }) =>
  rules.map(({ id, mode, detail }) =>
    mode === "enforce"
      ? note("bad", `breaks rule ${id}: enforced`, [["how", detail]])
      : note(
          "waits",
          `breaks rule ${id}: reported only${outcome === "refused" ? "" : ", would have been refused"}`,
          [["how", detail]],
        ),
  );

function approvalSteps({ approval, outcome, questions }) {
  if (approval === undefined) return [];
  const { action, others = [], deniedBy, fields = {}, remembered, waiting, policies, code } = approval;
  const words = [
    ["policies", policies.join(", ")],
    ["code", code],
    ["words shown", approval.message],
    ["form shown", approval.schema],
    ...Object.entries(fields).map(([name, text]) => [`filled in: ${name}`, text]),
    ...others.map((by) => ["also approved by", approverOf(by)]),
    ["denied by", deniedBy === undefined ? undefined : approverOf(deniedBy)],
    ["for somebody else's call", waiting],
    ["approved in chain", remembered],
  ];
  if (remembered !== undefined) return [note("good", "runs on an approval that is remembered", words)];
  if (action === "accept")
    return [
      note("good", waiting === undefined ? "approved by its user" : "approves somebody else's call", words),
    ];
  if (action !== undefined) return [note("bad", `approval: ${action}`, words)];
  if (outcome === "input_required" && questions !== undefined)
    return [note("waits", "asks for approval first", words)];
  return [note("note", "needs approval", words)];
}

const REPLAYS = {
  first_use: ["first use of this state: spent", "good"],
  already_redeemed: ["used before: nothing runs a second time", "bad"],
  repeated: ["used before by the same retry: its answer is returned", "note"],
  other_epoch: ["older than the store: nobody knows whether it was used", "bad"],
  expired: ["expired by the store's clock", "bad"],
  store_unavailable: ["the store could not be asked", "bad"],
  revoked: ["revoked", "bad"],
};

const STATES = {
  rejected: ["the state is none for this request: nothing was spent", "bad"],
  opened: ["the state fits; refused for another cause, nothing was spent", "note"],
  reprompted: ["the state was refused, and the call went on as a fresh one", "note"],
  released: ["the server got nothing: the state was given back", "note"],
};

function spentSteps({ replay, state }) {
  const [words, tone] = REPLAYS[replay] ?? [];
  const [more, moreTone] = STATES[state] ?? [];
  return [
    ...(words === undefined ? [] : [note(tone, words)]),
    ...(more === undefined ? [] : [note(moreTone, more)]),
  ];
}

function serverSteps(record) {
  const { upstreamStatus, upstreamCode, credential, questions = [], approval, outcome } = record;
  if (upstreamStatus === undefined) return [];
  const asks = questions.filter(({ message }) => message === undefined || message !== approval?.message);
  const title =
    asks.length > 0
      ? `asks by ${asks.map(({ kind }) => kind).join(", ")}`
      : (OUTCOMES[outcome]?.[0] ?? outcome);
  return [
    step("gateway", "server", "plain", "forwards it", [["credential", credential]]),
    step(
      "server",
      "gateway",
      upstreamStatus >= 400 ? "bad" : "plain",
      outcome === "refused" ? "answers" : title,
      [
        ["HTTP", String(upstreamStatus)],
        ["error", upstreamCode === undefined ? undefined : String(upstreamCode)],
        ...asks.flatMap(({ kind, ...digests }) =>
          Object.entries(digests).map(([name, digest]) => [`${kind} ${name}`, digest]),
        ),
      ],
    ),
  ];
}

function sealSteps({ jti, brought, outcome, round, roundLimit, ageLimitMs, chain }) {
  if (jti === undefined || jti === brought?.jti || outcome !== "input_required") return [];
  return [
    note("note", `sealed as round ${round}${roundLimit === undefined ? "" : ` of at most ${roundLimit}`}`, [
      ["state", jti],
      ["chain", chain],
      [
        "good for at most",
        ageLimitMs === undefined ? undefined : `${Math.round(ageLimitMs / 1000)} s in all`,
      ],
    ]),
  ];
}

function answerStep(record) {
  const { outcome, code, cause, asked = [], latencyMs, hidden } = record;
  const { word, tone } = endOf(record);
  const title =
    outcome === "refused"
      ? `${code === "approval_pending" ? "not yet" : "refused"}: ${code}`
      : asked.length === 0
        ? word
        : `${word}: ${asked.join(", ")}`;
  return step("gateway", "caller", tone === "note" ? "plain" : tone, title, [
    [outcome === "refused" ? "true cause (not told)" : "cause", cause],
    ["hidden items", hidden === undefined ? undefined : String(hidden)],
    ["after", `${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`],
  ]);
}

function deedSteps({ action, outcome, cause, entry = {}, address, requestId }) {
  const { by, reason, principal, route, tool, code, policies, id, until } = entry;
  return [
    note(
      outcome === "done" ? "note" : "bad",
      `operator${by === undefined ? "" : ` ${by}`}: ${action}, ${outcome}`,
      [
        ["cause", cause],
        ["reason", reason],
        ["caller", principal === undefined ? undefined : `${principal.subject} of ${principal.issuer}`],
        ["route", route],
        ["tools", tool],
        ["policies", policies?.join(", ")],
        ["code", code],
        ["entry", id],
        ["until", until],
        ["from", address],
        ["request", requestId],
      ],
    ),
  ];
}
