/** The page: who is signed in, which view is open, and what is asked for when. */
import { Approvals } from "./approvals.js";
import { revoke } from "./confirm.js";
import { day, element, shown } from "./elements.js";
import { Overrides } from "./overrides.js";
import { showHealth, showRefusals, showRules } from "./panels.js";
import { ask, hasSession, SignedOut, signIn, signOut } from "./talk.js";
import { Trips } from "./trips.js";

const RECORDS_MS = 2_000;
const STATE_MS = 5_000;
const NEWS_MS = 5_000;
const MAX_PAGES = 20;

const find = (id) => document.getElementById(id);
const TITLES = {
  trips: "Round trips",
  refusals: "Refusals",
  rules: "Rules",
  approvals: "Approvals",
  overrides: "Revocation",
  health: "Health",
};

const panels = Object.fromEntries(
  Object.entries(TITLES).map(([name, title]) => {
    const heading = element("h1", { id: `title-${name}`, tabindex: "-1" }, title);
    const body = element("div", {});
    const section = element("section", { "aria-labelledby": `title-${name}`, hidden: true }, heading, body);
    find("panels").append(section);
    return [name, { section, heading, body }];
  }),
);

const state = {
  view: "trips",
  paused: false,
  after: 0,
  process: undefined,
  run: 0,
  news: { requests: 0, refused: 0, at: 0 },
};

const onRevoke = (target, typed) => revoke(target, typed, onDone);
const trips = new Trips(panels.trips.body, onRevoke);
const overrides = new Overrides(panels.overrides.body, onDone);
const approvals = new Approvals(panels.approvals.body, onDone);

function say(text) {
  find("news").textContent = text;
}

function onDone(text) {
  say(text);
  void refresh(state.run);
}

/** Shows a view; its heading gets the focus when somebody went there. */
function open(view, moved) {
  state.view = Object.hasOwn(panels, view) ? view : "trips";
  for (const [name, { section }] of Object.entries(panels)) section.hidden = name !== state.view;
  for (const link of find("views").children) {
    if (link.hash === `#${state.view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${TITLES[state.view]} · Sealgate console`;
  if (!moved) return;
  panels[state.view].heading.focus();
  void refresh(state.run);
}

function showSignIn(fault = "") {
  state.run += 1;
  for (const id of ["session", "views", "panels", "scope"]) find(id).hidden = true;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  forget();
  find("sign-in").hidden = false;
  find("token-fault").textContent = fault;
  find("token").focus();
  document.title = "Sign in · Sealgate console";
}

function showConsole() {
  find("sign-in").hidden = true;
  find("token").value = "";
  for (const id of ["session", "views", "panels"]) find(id).hidden = false;
  open(location.hash.slice(1), false);
  state.run += 1;
  const { run } = state;
  void every(run, RECORDS_MS, takeRecords);
  void every(run, STATE_MS, refresh);
}

function forget() {
  trips.forget();
  state.after = 0;
  state.process = undefined;
}

/** Does something again and again, one at a time, until somebody else runs. */
async function every(run, ms, work) {
  while (state.run === run) {
    if (!state.paused && !document.hidden) await attempt(run, () => work(run));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

async function attempt(run, work) {
  try {
    await work();
    if (state.failing) say("Connected again.");
    state.failing = false;
  } catch (error) {
    if (state.run !== run) return;
    if (error instanceof SignedOut) return showSignIn(error.message);
    if (!state.failing) say(`No answer from the gateway: ${shown(error.message)}`);
    state.failing = true;
  }
}

async function takeRecords(run) {
  for (let page = 0; page < MAX_PAGES; page++) {
    const first = state.after === 0;
    const { process, records, last, more } = await ask(`/v1/console/records?after=${state.after}`);
    if (state.run !== run) return;
    if (state.process !== undefined && (process !== state.process || last < state.after)) {
      // Another process answers: what was shown is not its own.
      forget();
      state.process = process;
      continue;
    }
    state.process = process;
    state.after = last;
    trips.add(records);
    if (!first) tell(records);
    if (!more) break;
  }
}

/** Tells of what is new, now and then, for those who do not see it. */
function tell(records) {
  const { news } = state;
  for (const { record } of records) {
    news.requests += 1;
    if (record.outcome === "refused") news.refused += 1;
  }
  if (news.requests === 0 || Date.now() - news.at < NEWS_MS) return;
  say(
    `${news.requests} new ${news.requests === 1 ? "record" : "records"}${news.refused === 0 ? "" : `, ${news.refused} refused`}.`,
  );
  state.news = { requests: 0, refused: 0, at: Date.now() };
}

async function refresh(run) {
  await attempt(run, async () => {
    const found = await ask("/v1/console/state");
    if (state.run !== run) return;
    find("scope").hidden = false;
    find("since").replaceWith(Object.assign(day(found.recorder.since), { id: "since" }));
    find("held").textContent = `the last ${found.recorder.held} records are here`;
    if (state.view === "refusals") showRefusals(panels.refusals.body, found);
    if (state.view === "rules") showRules(panels.rules.body, found);
    if (state.view === "health") showHealth(panels.health.body, found);
    if (state.view === "approvals") approvals.show(await ask("/v1/approvals"));
    if (state.view === "overrides") {
      const [{ revocations }, { grants }] = await Promise.all([ask("/v1/revocations"), ask("/v1/grants")]);
      overrides.show({ revocations, grants });
    }
  });
}

find("sign-in-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = find("token");
  const { value } = field;
  field.value = "";
  find("token-fault").textContent = "";
  try {
    await signIn(value);
    showConsole();
    panels[state.view].heading.focus();
  } catch (error) {
    showSignIn(shown(error.message));
  }
});
find("sign-out").addEventListener("click", async () => {
  await signOut().catch(() => undefined);
  showSignIn();
});
find("pause").addEventListener("click", () => {
  state.paused = !state.paused;
  find("pause").setAttribute("aria-pressed", String(state.paused));
  say(state.paused ? "Updates are paused." : "Updates go on.");
});
addEventListener("hashchange", () => {
  if (find("panels").hidden || location.hash === "#main") return;
  open(location.hash.slice(1), true);
});

if (hasSession()) showConsole();
else showSignIn();
