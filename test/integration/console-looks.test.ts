/** How the console looks, as a browser computes it: contrast in both schemes, phones, names for those who do not see, and its size. */
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { startBrowser } from "../support/browser.ts";
import { CONTRAST } from "../support/contrast.ts";
import { callNamed, roundTrip, setConsole, signIn, waitingCall } from "./console-scene.ts";

const VIEWS = ["trips", "refusals", "rules", "approvals", "overrides", "health"];
const ASSETS = fileURLToPath(new URL("../../src/console/assets", import.meta.url));

const scene = await setConsole(t);
await roundTrip(scene);
await waitingCall(scene);
await callNamed(scene, "pay");
await scene.gateway.call({ method: "tools/list" }, { token: "nonsense" });
await fetch(`${scene.base}/v1/revocations`, {
  method: "POST",
  headers: { authorization: "Bearer an-operator's-token-4711", "content-type": "application/json" },
  body: JSON.stringify({ route: "/mcp", by: "dana", reason: "for a look" }),
});
const browser = await startBrowser(t);
const page = await browser.open();
await page.view(1_100, 900);

t.test("signing in, in both schemes", async (t) => {
  await page.goto(`${scene.base}/console/`);
  for (const scheme of ["light", "dark"] as const) {
    await page.scheme(scheme);
    const { poor, measured, weakestEdge } = await page.run(CONTRAST);
    t.same(poor, [], scheme);
    t.ok(measured > 5);
    t.ok(weakestEdge >= 3, `edges of controls: ${weakestEdge}`);
  }
});

t.test("every view, in both schemes and at both widths", async (t) => {
  await signIn(page, scene.base);
  await page.until(`document.querySelectorAll(".trips > li").length >= 4`);
  await page.run(`for (const one of document.querySelectorAll(".trips details")) one.open = true`);
  await page.until(`document.querySelectorAll(".steps").length >= 5`);
  await page.run(`for (const one of document.querySelectorAll(".more")) one.open = true`);
  const pages = new Set<string>();
  for (const view of VIEWS) {
    await page.run(`location.hash = "#${view}"`);
    await page.until(`document.querySelector("[aria-current]").hash === "#${view}"`);
    if (view !== "trips")
      await page.until(`document.querySelector("section:not([hidden])").innerText.length > 40`);
    for (const scheme of ["light", "dark"] as const) {
      await page.scheme(scheme);
      for (const width of [1_100, 360, 320]) {
        await page.view(width, 800);
        const { poor, measured, page: background } = await page.run(CONTRAST);
        t.same(poor, [], `${view} ${scheme} ${width}`);
        t.ok(measured > 15, `${measured} texts`);
        t.equal(
          await page.run("document.documentElement.scrollWidth"),
          width,
          `${view} at ${width}: no scrolling sideways`,
        );
        pages.add(`${scheme} ${background}`);
      }
    }
  }
  t.same([...pages].sort(), ["dark rgb(18, 22, 27)", "light rgb(255, 255, 255)"]);
  t.same(page.complaints, []);
});

t.test("dialogs too", async (t) => {
  await page.run(`location.hash = "#overrides"`);
  await page.click("[data-name^=back]");
  for (const scheme of ["light", "dark"] as const)
    for (const width of [1_100, 360]) {
      await page.scheme(scheme);
      await page.view(width, 740);
      t.same((await page.run(CONTRAST)).poor, []);
      t.equal(
        await page.run(`document.querySelector("dialog").getBoundingClientRect().width <= ${width}`),
        true,
      );
    }
  await page.press("Escape");
});

t.test("landmarks, headings, names: what a screen reader is told", async (t) => {
  await page.view(1_100, 900);
  for (const view of VIEWS) {
    await page.run(`location.hash = "#${view}"`);
    await page.until(`document.querySelector("[aria-current]").hash === "#${view}"`);
    const { nodes } = await page.command("Accessibility.getFullAXTree");
    const told = nodes
      .filter(({ ignored }: { ignored: boolean }) => !ignored)
      .map(
        (node: { role?: { value: string }; name?: { value: string } }) =>
          [node.role?.value ?? "", node.name?.value ?? ""] as const,
      );
    const roles = told.map(([role]: readonly [string, string]) => role);
    for (const landmark of ["banner", "navigation", "main", "contentinfo"])
      t.equal(roles.filter((role: string) => role === landmark).length, 1, `${view}: ${landmark}`);
    const nameless = told.filter(
      ([role, name]: readonly [string, string]) =>
        /^(button|textbox|searchbox|combobox|link|region|table|dialog|article)$/.test(role) &&
        name.trim() === "",
    );
    t.same(nameless, [], `${view}: everything has a name`);
    t.equal(await page.run(`document.querySelectorAll("section:not([hidden]) h1").length`), 1);
    t.equal(
      await page.run(
        `[...document.querySelectorAll("table")].every((one) => one.caption?.innerText && one.querySelectorAll("th[scope]").length > 1)`,
      ),
      true,
    );
  }
  t.match(await page.run(`document.querySelector("#news").getAttribute("aria-live")`), "polite");
  t.equal(
    await page.run(
      `[...document.querySelectorAll(".badge")].every((one) => /[a-z]/.test(one.lastChild.textContent))`,
    ),
    true,
    "a word beside each sign",
  );
  t.equal(await page.run("document.documentElement.lang"), "en");
});

t.test("small: all of it together, as it goes over the wire", async (t) => {
  const bytes = readdirSync(ASSETS).map((name) => statSync(`${ASSETS}/${name}`).size);
  const total = bytes.reduce((all, one) => all + one);
  t.ok(total < 80_000, `${total} bytes`);
});
