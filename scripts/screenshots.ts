/**
 * Makes the pictures of the console and of the report of a review for README and docs, from scenes with set times and names:
 * docs/images/*.png. Needs Chromium.
 *     npm run screenshots
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { htmlReport } from "../src/review/report/html.ts";
import { setConsole, signIn, tokenOf } from "../test/integration/console-scene.ts";
import { YES } from "../test/security/scene.ts";
import { startBrowser } from "../test/support/browser.ts";
import { PUBLIC_URL } from "../test/support/gateway.ts";
import { RECORD } from "../test/unit/review/report-record.ts";

const FOLDER = fileURLToPath(new URL("../docs/images/", import.meta.url));
const AT = Date.parse("2026-12-01T09:00:00.000Z");
const MAX_BYTES = 150_000;

await t.test("pictures", async (t) => {
  const scene = await setConsole(t);
  const { gateway, issuer } = scene;
  gateway.clock.now = AT;
  const life = { iat: AT / 1_000, exp: AT / 1_000 + 7_200, aud: `${PUBLIC_URL}/mcp` };
  const [dana, eve] = [
    await tokenOf(scene, "dana@example.com", life),
    await tokenOf(scene, "eve@example.com", life),
  ];
  const pass = (seconds: number): void => {
    gateway.clock.now += seconds * 1_000;
  };
  const call = (token: string, params: object) =>
    gateway.call({ method: "tools/call", params: { ...params } }, { token });
  const pay = { name: "pay", arguments: { to: "acct-9", amount: 250 } };

  // Refusals over the last half hour.
  for (const [minutes, count] of [
    [28, 2],
    [21, 5],
    [20, 3],
    [12, 1],
    [6, 4],
  ] as const) {
    gateway.clock.now = AT - minutes * 60_000;
    const early = { iat: gateway.clock.now / 1_000, exp: AT / 1_000, aud: `${PUBLIC_URL}/mcp` };
    const token = await issuer.token({ sub: "eve@example.com", ...early });
    for (let at = 0; at < count; at++)
      await call(token, { ...pay, requestState: "sg1.nonsense", inputResponses: {} });
    await gateway.call({ method: "tools/call", params: pay }, { token: "none" });
  }
  gateway.clock.now = AT;
  const first = await call(dana, pay);
  pass(14);
  const approval = { approval: { action: "accept", content: { reason: "invoice 7014" } } };
  const second = await call(dana, {
    ...pay,
    requestState: first.json.result.requestState,
    inputResponses: approval,
  });
  const requestState = second.json.result.requestState;
  pass(9);
  await call(dana, { ...pay, requestState, inputResponses: YES });
  pass(3);
  await call(eve, { ...pay, requestState, inputResponses: YES });
  pass(20);
  const wire = { name: "wire", arguments: { to: "acct-41", amount: 9_000 } };
  const waits = await call(eve, wire);
  await call(eve, {
    ...wire,
    requestState: waits.json.result.requestState,
    inputResponses: { approval: { action: "accept", content: {} } },
  });
  pass(5);

  mkdirSync(FOLDER, { recursive: true });
  const browser = await startBrowser(t);
  const page = await browser.open();
  await page.view(1_000, 1_000);
  // What differs from run to run, ids, codes and ports, is the same in every picture, in the order in which it appears.
  const steady = (): Promise<unknown> =>
    page.run(`(() => {
      const known = (globalThis.known ??= new Map());
      const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
      const stand = (text, marks) => {
        if (!known.has(text)) known.set(text, known.size + 1);
        let seed = known.get(text) * 7919;
        return text.replace(marks === letters ? /./g : /\\w/g, () => { seed = (seed * 48271) % 2147483647; return marks[seed % marks.length]; });
      };
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = walk.currentNode;
        if (node.parentElement.closest("[data-steady]")) continue;
        const text = node.data
          .replaceAll(${JSON.stringify(issuer.issuer)}, "https://id.example.com")
          .replace(/^[\\w-]{22}$|^[\\w-]{43}$/, (found) => stand(found, letters))
          .replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, (found) => stand(found, "0123456789abcdef"))
          .replace(/(^|Code: )([0-9A-F]{8})$/, (_, before, found) => before + stand(found, "0123456789ABCDEF"));
        if (text !== node.data) node.parentElement.setAttribute("data-steady", "");
        node.data = text;
      }
      for (const one of document.querySelectorAll("time:not([datetime^='2026-12-01'])")) one.textContent = "2026-12-01 08:30 UTC";
    })()`);
  const save = async (name: string): Promise<void> => {
    await steady();
    const png = await page.shot();
    if (png.length > MAX_BYTES) throw new Error(`${name}.png is ${png.length} bytes, allowed ${MAX_BYTES}`);
    writeFileSync(`${FOLDER}${name}.png`, png);
    t.pass(`${name}.png: ${png.length} bytes`);
  };
  await signIn(page, scene.base);
  await page.until(`document.querySelectorAll(".trips > li").length > 3`);
  const trip = `[...document.querySelectorAll(".trips details")].find((one) => one.innerText.includes("tool pay") && one.innerText.includes("complete"))`;
  await page.click("#pause");
  for (const scheme of ["light", "dark"] as const) {
    await page.scheme(scheme);
    await page.view(1_000, 1_330);
    await page.run(`location.hash = "#trips"`);
    await page.run(`${trip}.open = true`);
    await page.until(`${trip}.querySelector(".steps")`);
    await page.run(`document.activeElement.blur(), ${trip}.scrollIntoView()`);
    await save(`console-trip-${scheme}`);
    await page.view(1_000, 620);
    await page.run(`location.hash = "#refusals"`);
    await page.until(`document.querySelector("section:not([hidden]) table")`);
    await page.run("document.activeElement.blur(), scrollTo(0, 0)");
    await save(`console-refusals-${scheme}`);
  }
  await page.run(`location.hash = "#approvals"`);
  await page.until(`document.querySelector(".waiting")`);
  await page.view(360, 740);
  await page.run("document.activeElement.blur(), scrollTo(0, 0)");
  await save("console-approvals-phone-dark");
});

await t.test("the report of a review", async (t) => {
  const page = await (await startBrowser(t)).open();
  await page.goto(`data:text/html;base64,${Buffer.from(htmlReport(RECORD)).toString("base64")}`);
  await page.view(1_000, 900);
  for (const [name, scheme, place] of [
    ["review-summary-light", "light", "body"],
    ["review-call-dark", "dark", "#part-1"],
  ] as const) {
    await page.scheme(scheme);
    await page.run(`document.querySelector("${place}").scrollIntoView()`);
    const png = await page.shot();
    if (png.length > MAX_BYTES) throw new Error(`${name}.png is ${png.length} bytes, allowed ${MAX_BYTES}`);
    writeFileSync(`${FOLDER}${name}.png`, png);
    t.pass(`${name}.png: ${png.length} bytes`);
  }
});
