/** The console in a real Chromium: signing in, round trips as they happen, revocation, approvals, the keyboard, and the session's end. */
import t from "tap";
import { type Page, startBrowser } from "../support/browser.ts";
import {
  type ConsoleScene,
  callNamed,
  roundTrip,
  setConsole,
  signIn,
  TOKEN,
  TRANSFER,
  tokenOf,
  waitingCall,
} from "./console-scene.ts";

const browser = await startBrowser(t);

async function open(scene: ConsoleScene, signedIn = true): Promise<Page> {
  const page = await browser.open();
  await page.view(1_200, 900);
  if (signedIn) await signIn(page, scene.base);
  else await page.goto(`${scene.base}/console/`);
  return page;
}

const text = (page: Page, selector = "main"): Promise<string> =>
  page.run(`document.querySelector(${JSON.stringify(selector)}).innerText`);
const trip = (words: string): string =>
  `[...document.querySelectorAll(".trips details")].find((one) => one.innerText.includes(${JSON.stringify(words)}))`;
const focused = (page: Page): Promise<string> =>
  page.run(
    `(() => { const one = document.activeElement; return one === document.body ? "" : one.getAttribute("aria-label") || one.innerText || one.id; })()`,
  );

t.test("a wrong token shows nothing; the right one is nowhere afterwards", async (t) => {
  const scene = await setConsole(t);
  const page = await open(scene, false);
  await page.fill("#token", "a wrong one");
  await page.press("Enter");
  await page.until(`document.querySelector("#token-fault").innerText !== ""`);
  t.match(await text(page), /this is not the token of admin\.token/);
  t.equal(
    await page.run(
      `document.querySelector("#panels").hidden && document.querySelector("#token").value === ""`,
    ),
    true,
  );
  t.equal(await focused(page), "token");
  await page.fill("#token", TOKEN);
  await page.press("Enter");
  await page.until(`!document.querySelector("#panels").hidden`);
  t.notMatch(
    await page.run(
      `document.documentElement.outerHTML + JSON.stringify(sessionStorage) + document.cookie + location.href`,
    ),
    /token-4711/,
  );
  t.equal(await page.run("document.cookie"), "");
  t.match(scene.gateway.deeds, [
    { action: "signin", outcome: "refused", cause: "token" },
    { action: "signin", outcome: "done" },
  ]);
  await page.click("#sign-out");
  await page.until(`!document.querySelector("#sign-in").hidden`);
  await page.goto(`${scene.base}/console/`);
  t.equal(await page.run(`document.querySelector("#panels").hidden`), true);
  t.same(page.complaints, []);
});

t.test("a round trip appears while somebody looks, step by step, and is announced", async (t) => {
  const scene = await setConsole(t);
  const page = await open(scene);
  await page.until(`document.querySelectorAll(".trips > li").length > 0`);
  const chain = await roundTrip(scene);
  await page.until(trip("tools/call tool transfer"));
  await page.until(`document.querySelector("#news").innerText.includes("1 refused")`);
  await page.run(`${trip("transfer")}.querySelector("summary").click()`);
  await page.until(`${trip("transfer")}.querySelector(".steps")`);
  await page.run(`for (const one of ${trip("transfer")}.querySelectorAll(".more")) one.open = true`);
  const story: string = await page.run(`${trip("transfer")}.innerText`);
  t.match(story, /✓ complete/);
  t.match(story, /u-1001 of http/);
  t.match(story, /asks by form/);
  t.match(story, /sealed as round 1 of at most \d+/);
  t.match(story, chain);
  t.match(story, /first use of this state: spent/);
  t.match(story, /refused: already_redeemed/);
  t.match(story, /form schema\s+[\w-]{43}/);
  const ways: string[] = await page.run(
    `[...${trip("transfer")}.querySelectorAll(".way")].map((one) => one.innerText)`,
  );
  t.same(ways.slice(0, 5), [
    "Caller → Sealgate",
    "Sealgate → Server",
    "Server → Sealgate",
    "Sealgate",
    "Sealgate → Caller",
  ]);
  t.notMatch(story, /Sure\?|requestState/, "no words of the question, no state");
  await page.run(`location.hash = "#refusals"`);
  await page.until(`document.querySelector("#panels").innerText.includes("already_redeemed")`);
  await page.run(`location.hash = "#health"`);
  await page.until(`document.querySelector("#panels").innerText.includes("seals and opens")`);
  t.same(page.complaints, []);
  t.same([...new Set(page.requested.map((url) => new URL(url).origin))], [scene.base]);
});

t.test("revoking wants the chain typed, and the state is refused afterwards", async (t) => {
  const scene = await setConsole(t);
  const state = await scene.ask();
  const chain = scene.gateway.audit.at(-1)?.chain ?? "";
  const page = await open(scene);
  await page.until(trip("transfer"));
  await page.run(`${trip("transfer")}.querySelector("summary").click()`);
  await page.click(".trip .verbs button");
  await page.until(`document.querySelector("dialog[open]")`);
  await page.fill("#dialog-by", "dana");
  await page.fill("#dialog-reason", "seen twice");
  await page.fill("#dialog-typed", chain.slice(1));
  await page.click("dialog button.danger");
  await page.until(`document.querySelector("#dialog-fault").innerText.includes("Nothing was done")`);
  t.equal(
    scene.gateway.deeds.some(({ action }) => action === "revoke"),
    false,
  );
  await page.press("Escape");
  await page.until(`document.querySelector("dialog") === null`);
  t.equal(await focused(page), "Revoke this chain…", "focus is back where it came from");
  await page.click(".trip .verbs button");
  await page.fill("#dialog-typed", chain);
  await page.click("dialog button.danger");
  await page.until(`document.querySelector("dialog") === null`);
  t.match(scene.gateway.deeds.at(-1), { action: "revoke", outcome: "done", entry: { chain, by: "dana" } });
  t.match((await scene.retry(state)).json, { error: { data: { reason: "invalid_request_state" } } });
  t.match(scene.gateway.audit.at(-1), { cause: "revoked" });
  await page.until(`${trip("transfer")}.innerText.includes("operator dana: revoke, done")`);

  await page.run(`location.hash = "#overrides"`);
  await page.click("[data-name^=back]");
  await page.fill("#dialog-typed", chain);
  await page.click("dialog button.danger");
  await page.until(`document.querySelector("#panels").innerText.includes("Nothing is revoked")`);
  t.match(scene.gateway.deeds.at(-1), { action: "unrevoke", outcome: "done" });
  t.same(page.complaints, []);
});

t.test("all of a caller, and a route that is not there", async (t) => {
  const scene = await setConsole(t);
  const state = await scene.ask();
  const page = await open(scene);
  await page.run(`location.hash = "#overrides"`);
  await page.run(
    `document.querySelector("#revoke-kind").value = "principal", document.querySelector("#revoke-kind").dispatchEvent(new Event("change"))`,
  );
  await page.click("form.filters button.danger");
  t.match(await page.run(`document.querySelector("section:not([hidden]) .fault").innerText`), /Fill in/);
  await page.fill("#revoke-issuer", scene.issuer.issuer);
  await page.fill("#revoke-subject", "u-1001");
  await page.click("section:not([hidden]) form.filters button.danger");
  await page.fill("#dialog-by", "dana");
  await page.fill("#dialog-typed", "u-1001");
  await page.press("Enter");
  await page.until(`document.querySelector("dialog") === null`);
  t.match((await scene.retry(state)).json, { error: { data: { reason: "invalid_request_state" } } });
  await page.until(`document.querySelector("#panels").innerText.includes("caller u-1001 of")`);
});

t.test("a call that waits for a second person: its words, and a yes by its code", async (t) => {
  const scene = await setConsole(t);
  const page = await open(scene);
  await waitingCall(scene);
  await page.run(`location.hash = "#approvals"`);
  await page.until(`document.querySelector(".waiting")`);
  const words = await text(page, ".waiting");
  t.match(words, /- amount: 9000/);
  t.match(words, /1 for two-people|2 for two-people/);
  const code = /Code\s+([0-9A-F]+)/.exec(words)?.[1] ?? "";
  await page.click("[data-name^=approve]");
  await page.fill("#dialog-by", "dana");
  await page.fill("#dialog-typed", "00000000");
  await page.click("dialog button.danger");
  await page.until(`document.querySelector("#dialog-fault").innerText !== ""`);
  const before = scene.upstream.arrived.length;
  await page.fill("#dialog-typed", code);
  await page.click("dialog button.danger");
  await page.until(`document.querySelector("dialog") === null`);
  t.match(scene.gateway.deeds.at(-1), { action: "approve", outcome: "done", entry: { by: "dana", code } });
  await page.until(`document.querySelector(".waiting").innerText.includes("operator dana")`);
  t.equal(scene.upstream.arrived.length, before, "nothing ran by that alone");
  const ran = await waitingCall(scene);
  t.match(ran.json.result, { resultType: "input_required" }, "the server's own question follows");
  t.equal(scene.upstream.arrived.length, before + 1);
  await page.run(`location.hash = "#trips"`);
  await page.until(`[...document.querySelectorAll(".trips details")].length >= 2`);
  await page.run(`for (const one of document.querySelectorAll(".trips details")) one.open = true`);
  await page.until(`document.querySelector("#panels").innerText.includes("also approved by")`);
  t.match(
    await text(page),
    /approved by its user[\s\S]*policies\s+two-people[\s\S]*also approved by\s+operator dana/,
  );
  t.same(page.complaints, []);
});

t.test("with the keyboard alone: sign in, look, revoke", async (t) => {
  const scene = await setConsole(t);
  await scene.ask();
  const chain = scene.gateway.audit.at(-1)?.chain ?? "";
  const page = await open(scene, false);
  await page.until(`document.activeElement.id === "token"`);
  await page.type(TOKEN);
  await page.press("Enter");
  await page.until(trip("transfer"));
  t.equal(await focused(page), "Round trips", "the heading of what is there now");
  const path: string[] = [];
  const tabTo = async (words: string): Promise<void> => {
    for (let at = 0; at < 30; at++) {
      await page.press("Tab");
      const here = await focused(page);
      path.push(here.split("\n")[0] ?? "");
      t.equal(
        await page.run(
          `document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none"`,
        ),
        true,
        `visible: ${here}`,
      );
      if (here.includes(words)) return;
    }
    t.fail(`${words} is not reached: ${path.join(" | ")}`);
  };
  await tabTo("transfer");
  await page.press("Enter");
  await page.until(`${trip("transfer")}.open`);
  await tabTo("Revoke this chain");
  await page.press("Space");
  await page.until(`document.querySelector("dialog[open]")`);
  t.equal(await page.run("document.activeElement.id"), "dialog-by");
  await page.type("dana");
  await page.press("Tab");
  await page.press("Tab");
  t.equal(await page.run("document.activeElement.id"), "dialog-typed");
  await page.type(chain);
  await page.press("Enter");
  await page.until(`document.querySelector("dialog") === null`);
  t.match(scene.gateway.deeds.at(-1), { action: "revoke", outcome: "done", entry: { chain } });
  await page.goto(`${scene.base}/console/`);
  await page.until(`!document.querySelector("#panels").hidden`);
  await page.press("Tab");
  t.equal(await focused(page), "Skip to content", "first of all");
});

t.test("the session ends when the token changes: the page says so and shows nothing more", async (t) => {
  const scene = await setConsole(t);
  await roundTrip(scene);
  const page = await open(scene);
  await page.until(trip("transfer"));
  await scene.changeToken("another-operator's-token");
  await scene.gateway.reload();
  await page.until(`!document.querySelector("#sign-in").hidden`);
  t.match(await text(page), /The session is over/);
  t.equal(await page.run(`document.querySelector(".trips").children.length`), 0);
  t.notMatch(await page.run("document.body.innerText"), /transfer/);
  await page.fill("#token", "another-operator's-token");
  await page.press("Enter");
  await page.until(trip("transfer"));
});

t.test("paused, filtered, and told apart", async (t) => {
  const scene = await setConsole(t);
  const page = await open(scene);
  await roundTrip(scene);
  await scene.ask(TRANSFER, { token: await tokenOf(scene, "u-3") });
  await scene.gateway.call(TRANSFER, { token: "nonsense" });
  await page.until(`document.querySelectorAll(".trips > li").length >= 4`);
  const shownNow = (): Promise<number> => page.run(`document.querySelectorAll(".trips > li").length`);
  const choose = (value: string) =>
    page.run(
      `document.querySelector("#kind").value = "${value}", document.querySelector("#kind").dispatchEvent(new Event("change"))`,
    );
  await choose("chains");
  t.equal(await shownNow(), 2);
  await choose("refused");
  t.equal(await shownNow(), 2);
  await choose("all");
  await page.fill("#search", "u-3");
  t.equal(await shownNow(), 1);
  await page.fill("#search", "");
  await page.run(
    `document.querySelector("#search").value = "", document.querySelector("#search").dispatchEvent(new Event("input"))`,
  );
  await page.click("#pause");
  t.equal(await page.run(`document.querySelector("#pause").getAttribute("aria-pressed")`), "true");
  const before = await shownNow();
  await callNamed(scene, "later");
  await page.click("#pause");
  await page.until(`document.querySelectorAll(".trips > li").length === ${before + 1}`);
});
