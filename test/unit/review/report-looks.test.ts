/** The HTML report in a browser: no request, no complaint, contrast in both schemes, phones, paper, and what a screen reader is told. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { htmlReport } from "../../../src/review/report/html.ts";
import { startBrowser } from "../../support/browser.ts";
import { CONTRAST } from "../../support/contrast.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";

const folder = t.testdir({});
const browser = await startBrowser(t);
const page = await browser.open();
const OPEN_ALL = `for (const one of document.querySelectorAll("details")) one.open = true`;

for (const [name, record] of Object.entries({
  RECORD,
  HOSTILE: hostileRecord(HOSTILE),
  LONG: hostileRecord(LONG),
}))
  t.test(`${name}: both schemes, three widths, nothing loaded, nothing run`, async (t) => {
    const file = join(folder, `${name}.html`);
    await writeFile(file, htmlReport(record));
    const before = page.requested.length;
    await page.goto(pathToFileURL(file).href);
    await page.run(OPEN_ALL);
    for (const scheme of ["light", "dark"] as const) {
      await page.scheme(scheme);
      for (const width of [1_100, 360, 320]) {
        await page.view(width, 900);
        const { poor, measured, page: ground } = await page.run(CONTRAST);
        t.same(poor, [], `${scheme} ${width}`);
        t.ok(measured > 100, `${measured} texts`);
        t.equal(ground, scheme === "dark" ? "rgb(18, 22, 27)" : "rgb(255, 255, 255)", "the sheet is let in");
        t.equal(
          await page.run("document.documentElement.scrollWidth"),
          width,
          `no scrolling sideways at ${width}`,
        );
        const outside = await page.run(
          `[...document.querySelectorAll("figure text")].filter((one) => { const box = one.getBoundingClientRect(); const around = one.closest("figure").getBoundingClientRect(); return box.left < around.left || box.right > around.right; }).map((one) => one.textContent)`,
        );
        t.same(outside, [], `words stay in the drawing at ${width}`);
      }
    }
    t.equal(page.requested.length, before + 1, "the file itself");
    t.same(page.complaints, []);
    t.equal(
      await page.run(
        `document.querySelectorAll("script, img, iframe, link, object, embed, form, base").length`,
      ),
      0,
    );
  });

t.test("what would run is stopped by the policy as well", async (t) => {
  await page.goto(pathToFileURL(join(folder, "RECORD.html")).href);
  await page.run(
    `document.body.insertAdjacentHTML("beforeend", '<img src="http://127.0.0.1:9/x" onerror="window.ran = 1"><p id="red" style="color: rgb(255, 0, 0)">x</p>'); const one = document.createElement("script"); one.textContent = "window.ran = 2"; document.body.append(one);`,
  );
  t.equal(await page.run("window.ran"), undefined);
  t.not(await page.run(`getComputedStyle(document.querySelector("#red")).color`), "rgb(255, 0, 0)");
});

t.test("landmarks, headings in order, and a drawing that is told in words", async (t) => {
  await page.goto(pathToFileURL(join(folder, "RECORD.html")).href);
  const levels: readonly number[] = await page.run(
    `[...document.querySelectorAll("h1, h2, h3, h4")].map((one) => Number(one.localName[1]))`,
  );
  t.equal(levels[0], 1);
  t.equal(levels.filter((level) => level === 1).length, 1);
  for (const [at, level] of levels.entries()) t.ok(level - (levels[at - 1] ?? 1) <= 1, `heading ${at + 1}`);
  t.equal(
    await page.run(`document.querySelector("figure > svg").getAttribute("aria-label")`),
    "Client to endpoint: tools/call transfer, first call. Endpoint to client: input required, after 13 ms, with a requestState, form confirm, · approve: boolean, · note: string, optional. Client to endpoint: retry with answers, confirm: accept. Endpoint to client: complete result, after 14 ms.",
  );
  const { nodes } = await page.command("Accessibility.getFullAXTree");
  const roles = nodes.map((node: { role?: { value: string } }) => node.role?.value);
  for (const landmark of ["banner", "main", "contentinfo", "navigation"])
    t.ok(roles.includes(landmark), landmark);
});

t.test("a link leads to what it names, and paper is light", async (t) => {
  await page.click(`.found.fail .those a`);
  t.equal(await page.run("location.hash"), "#result-2");
  t.equal(
    await page.run(`document.querySelector(":target h4 bdi").textContent`),
    "A tampered state is refused",
  );
  await page.scheme("dark");
  await page.command("Emulation.setEmulatedMedia", {
    media: "print",
    features: [{ name: "prefers-color-scheme", value: "dark" }],
  });
  t.equal(await page.run(`getComputedStyle(document.documentElement).getPropertyValue("--page")`), "#ffffff");
  const { data } = await page.command("Page.printToPDF", {});
  t.match(Buffer.from(data, "base64").subarray(0, 5).toString(), "%PDF-");
});
