/**
 * Names that callers choose reach the console's page: markup, scripts, what turns text around, and far too much of everything. In a real
 * browser they stay text: nothing runs, nothing is fetched, and nothing is hidden.
 */
import t from "tap";
import { callNamed, setConsole, signIn, tokenOf, waitingCall } from "../integration/console-scene.ts";
import { startBrowser } from "../support/browser.ts";

const NAMES = [
  `<img src=x onerror="fetch('/pwned')">`,
  `"><script>fetch("/pwned")</script>`,
  `<svg/onload=alert(1)>`,
  `javascript:alert(1)`,
  `</summary></details><form action=//evil.example><button>Sign in</button>`,
  "{{constructor.constructor('alert(1)')()}}",
  "pay\u202Eyap\u2066",
  "a\u200Bb\u00ADc",
  "x".repeat(250),
  "__proto__",
  "constructor",
];

t.test("as tools, as callers, as what waits for approval", async (t) => {
  const scene = await setConsole(t, { audit: { client: true } });
  const browser = await startBrowser(t);
  const page = await browser.open();
  await page.view(360, 740);
  for (const name of NAMES) {
    await callNamed(scene, name);
    await scene.gateway.call(
      { method: "tools/call", params: { name: "transfer", arguments: {} } },
      { token: await tokenOf(scene, name) },
    );
  }
  await waitingCall(scene, { arguments: Object.fromEntries(NAMES.map((name) => [name, name])) });
  await signIn(page, scene.base);
  await page.until(`document.querySelectorAll(".trips > li").length >= ${2 * NAMES.length}`);
  await page.run(`for (const one of document.querySelectorAll(".trips details")) one.open = true`);
  await page.until(`document.querySelectorAll(".steps").length >= ${2 * NAMES.length}`);
  await page.run(`for (const one of document.querySelectorAll(".more")) one.open = true`);
  const seen = new Set<string>();
  for (const view of ["trips", "refusals", "rules", "approvals", "overrides", "health"]) {
    await page.run(`location.hash = "#${view}"`);
    await page.until(
      `document.querySelector("section:not([hidden]) h1").innerText !== "" && location.hash === "#${view}"`,
    );
    if (view === "approvals") await page.until(`document.querySelector(".waiting")`);
    const found: { text: string; elements: string[]; width: number; handlers: number } = await page.run(`({
      text: document.querySelector("main").innerText,
      elements: [...document.querySelectorAll("main img, main script, main iframe, main object, main [href^=javascript], main form[action], main style, main link")].map((one) => one.outerHTML),
      handlers: [...document.querySelectorAll("*")].filter((one) => one.getAttributeNames().some((name) => /^on|^style$/.test(name))).length,
      width: document.documentElement.scrollWidth,
    })`);
    t.same(found.elements, [], view);
    t.equal(found.handlers, 0, `${view}: no handlers and no styles in markup`);
    t.equal(found.width, 360, `${view}: nothing makes the page wider`);
    t.notMatch(found.text, /[\u202E\u2066\u200B\u00AD]/, `${view}: nothing unseen`);
    seen.add(found.text);
  }
  const all = [...seen].join("\n");
  for (const name of NAMES.slice(0, 6)) t.ok(all.includes(name), name);
  t.ok(all.includes("pay{U+202E}yap{U+2066}"));
  t.ok(all.includes("a{U+200B}b{U+00AD}c"));
  t.same(page.complaints, [], "no policy was broken, nothing threw, no dialog came");
  t.same(
    page.requested.filter((url) => !new RegExp(`^${scene.base}/(console/|v1/)`).test(url)),
    [],
  );
  t.same(scene.gateway.logged().match(/pwned/), null);
});

t.test(
  "revoking a caller whose name cannot be typed: what is shown is typed, what is meant is sent",
  async (t) => {
    const scene = await setConsole(t);
    const browser = await startBrowser(t);
    const page = await browser.open();
    await page.view(1_000, 800);
    const name = "mal\u202Elory";
    await scene.gateway.call(
      { method: "tools/call", params: { name: "transfer", arguments: {} } },
      { token: await tokenOf(scene, name) },
    );
    await signIn(page, scene.base);
    await page.until(`document.querySelectorAll(".trips > li").length >= 2`);
    await page.run(`for (const one of document.querySelectorAll(".trips details")) one.open = true`);
    await page.until(`document.querySelector("[data-name^='Revoke this caller']")`);
    await page.click("[data-name^='Revoke this caller']");
    await page.fill("#dialog-by", "dana");
    await page.fill("#dialog-typed", "mallory");
    await page.press("Enter");
    await page.until(`document.querySelector("#dialog-fault").innerText.includes("Nothing was done")`);
    await page.fill("#dialog-typed", "mal{U+202E}lory");
    await page.press("Enter");
    await page.until(`document.querySelector("dialog") === null`);
    t.match(scene.gateway.deeds.at(-1), {
      action: "revoke",
      outcome: "done",
      entry: { principal: { subject: name } },
    });
  },
);

t.test("in a frame of another page there is nothing, and no other page gets at what is here", async (t) => {
  const scene = await setConsole(t);
  const reply = await fetch(`${scene.base}/console/`);
  const policy = reply.headers.get("content-security-policy") ?? "";
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ])
    t.ok(policy.split("; ").includes(part), part);
  t.notMatch(policy, /unsafe|\*|http/);
  t.match(Object.fromEntries(reply.headers), {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  const browser = await startBrowser(t);
  const page = await browser.open();
  await page.goto(`${scene.base}/healthz`);
  await page.run(
    `(() => { const frame = document.createElement("iframe"); frame.src = "/console/"; document.body.append(frame); return new Promise((resolve) => frame.addEventListener("load", resolve)); })()`,
  );
  t.equal(
    await page.run(
      `(() => { try { return document.querySelector("iframe").contentDocument?.querySelector("#token") ?? null; } catch { return null; } })()`,
    ),
    null,
  );
  t.match(page.complaints.join("\n"), /frame-ancestors|ContentSecurityPolicy|BlockedByResponse/);
});
