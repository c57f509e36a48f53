/**
 * Debian's Chromium, driven over its DevTools protocol by Node's own WebSocket: no driver, no download. Each page has a context of its
 * own, so no cookie is shared. What the page asks the network for, what its policy stops and what it throws are all caught.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { program } from "./debian.ts";

// biome-ignore lint/suspicious/noExplicitAny: the protocol is its own documentation
type Json = any;

const FLAGS = [
  ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"],
  ...["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  ...[
    "--no-default-browser-check",
    "--disable-extensions",
    "--hide-scrollbars",
    "--font-render-hinting=none",
  ],
  ...["--force-color-profile=srgb", "--lang=en-US", "--remote-debugging-port=0"],
];
const START_MS = 60_000;
const LATE_MS = 15_000;

/** A page, and what was seen of it. */
export interface Page {
  /** URLs that were asked for, in order. */
  readonly requested: readonly string[];
  /** Texts of the console, of what was thrown and what a policy stopped. */
  readonly complaints: readonly string[];
  goto(url: string): Promise<void>;
  /** What an expression comes to, as JSON; promises are waited for. */
  run(expression: string): Promise<Json>;
  /** Waits until an expression is true. @throws Error with what the page shows */
  until(expression: string): Promise<void>;
  /** Puts a text into what a selector finds, as if it was typed. */
  fill(selector: string, text: string): Promise<void>;
  /** Clicks, by coordinates, what a selector finds. */
  click(selector: string): Promise<void>;
  /** Presses and releases a key. */
  press(key: "Tab" | "Enter" | "Escape" | "Space" | "ShiftTab"): Promise<void>;
  /** Types into what has the focus. */
  type(text: string): Promise<void>;
  view(width: number, height: number, scale?: number): Promise<void>;
  scheme(scheme: "light" | "dark"): Promise<void>;
  /** A PNG. @param whole also what lies below the fold */
  shot(whole?: boolean): Promise<Buffer>;
  command(method: string, params?: object): Promise<Json>;
  close(): Promise<void>;
}

export interface Browser {
  open(): Promise<Page>;
  close(): Promise<void>;
}

/** Starts one; it ends with the test. */
export async function startBrowser(t: Pick<Test, "teardown">): Promise<Browser> {
  const browser = await launch();
  t.teardown(() => browser.close());
  return browser;
}

/** Starts one that the caller closes. */
export async function launch(): Promise<Browser> {
  const chromium = await program("chromium", { debian: "chromium" });
  const folder = await mkdtemp(join(tmpdir(), "sealgate-chromium-"));
  const child = spawn(chromium, [...FLAGS, `--user-data-dir=${folder}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    // Its own settings only, wherever the test runs.
    env: { ...process.env, HOME: folder, LANGUAGE: "en_US", TZ: "UTC" },
    detached: true,
  });
  try {
    const link = await connect(await addressOf(child));
    const pages = new Set<Page>();
    return {
      async open() {
        const page = await openPage(link);
        pages.add(page);
        return page;
      },
      async close() {
        link.close();
        await end(child);
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

/** Chromium is many processes; they are one group. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGKILL");
  await over;
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const late = setTimeout(() => reject(new Error(`Chromium does not start: ${said}`)), START_MS);
    child.once("exit", (code) => reject(new Error(`Chromium ended with ${code}: ${said}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      const found = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

interface Link {
  send(method: string, params?: object, session?: string): Promise<Json>;
  on(session: string, listener: (method: string, params: Json) => void): void;
  close(): void;
}

async function connect(address: string): Promise<Link> {
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error("Chromium does not answer")), { once: true });
  });
  let last = 0;
  const waiting = new Map<number, { resolve: (value: Json) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, (method: string, params: Json) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error, method, params, sessionId } = JSON.parse(String(data)) as Json;
    if (id === undefined) return listeners.get(sessionId)?.(method, params);
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(result);
    else one?.reject(new Error(error.message));
  });
  socket.addEventListener("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("Chromium has ended"));
    waiting.clear();
  });
  return {
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const id = ++last;
        waiting.set(id, { resolve, reject });
        socket.send(
          JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
        );
      }),
    on: (session, listener) => void listeners.set(session, listener),
    close: () => socket.close(),
  };
}

const KEYS = {
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  ShiftTab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9, modifiers: 8 },
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
} as const;

async function openPage(link: Link): Promise<Page> {
  const { browserContextId } = await link.send("Target.createBrowserContext");
  const { targetId } = await link.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await link.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method: string, params: object = {}): Promise<Json> => link.send(method, params, sessionId);
  const requested: string[] = [];
  const complaints: string[] = [];
  let loaded: (() => void) | undefined;
  link.on(sessionId, (method, params) => {
    if (method === "Network.requestWillBeSent") requested.push(params.request.url);
    if (method === "Page.loadEventFired") loaded?.();
    if (method === "Runtime.exceptionThrown")
      complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled")
      complaints.push(params.args.map(({ value }: Json) => String(value)).join(" "));
    // What the network says of a refusal is no complaint of the page.
    if (method === "Log.entryAdded" && params.entry.source !== "network") complaints.push(params.entry.text);
    // Advice on speed is about the test's own expressions.
    if (method === "Audits.issueAdded" && params.issue.code !== "PerformanceIssue")
      complaints.push(`${params.issue.code} ${JSON.stringify(params.issue.details)}`);
    if (method === "Page.javascriptDialogOpening") {
      complaints.push(`dialog: ${params.message}`);
      void send("Page.handleJavaScriptDialog", { accept: false });
    }
  });
  for (const domain of ["Page", "Runtime", "Network", "Log", "Audits"]) await send(`${domain}.enable`);

  const run = async (expression: string): Promise<Json> => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      ...{ expression, awaitPromise: true, returnByValue: true, userGesture: true },
    });
    if (exceptionDetails !== undefined)
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  const until = async (expression: string): Promise<void> => {
    const deadline = performance.now() + LATE_MS;
    while (!(await run(`Boolean(${expression})`))) {
      if (performance.now() > deadline)
        throw new Error(
          `never true: ${expression}\n${await run("document.body.innerText")}\n${complaints.join("\n")}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const quoted = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})`;
  return {
    ...{ requested, complaints, run, until },
    command: send,
    async goto(url) {
      const over = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      const { errorText } = await send("Page.navigate", { url });
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
      await over;
    },
    async fill(selector, text) {
      await until(quoted(selector));
      await run(`${quoted(selector)}.focus(), ${quoted(selector)}.select?.()`);
      await send("Input.insertText", { text });
    },
    async click(selector) {
      await until(`${quoted(selector)}?.checkVisibility()`);
      const { x, y } = await run(
        `(() => { const one = ${quoted(selector)}; one.scrollIntoView({ block: "center" }); const { x, y, width, height } = one.getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }; })()`,
      );
      for (const type of ["mousePressed", "mouseReleased"])
        await send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    },
    async press(name) {
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...KEYS[name] });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...KEYS[name] });
    },
    type: (text) => send("Input.insertText", { text }),
    view: (width, height, scale = 1) =>
      send("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: scale,
        mobile: width < 600,
      }),
    scheme: (value) =>
      send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] }),
    async shot(whole = false) {
      const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
      return Buffer.from(data, "base64");
    },
    close: () => link.send("Target.disposeBrowserContext", { browserContextId }),
  };
}
