/** A gateway with its console, people who call, and a browser that looks; for the tests of the console and for its pictures. */
import { writeFile } from "node:fs/promises";
import type { Test } from "tap";
import { asksOnce, type Scene, setScene, TRANSFER } from "../security/scene.ts";
import type { Page } from "../support/browser.ts";
import type { Message, Reply } from "../support/gateway.ts";
import { PUBLIC_URL } from "../support/gateway.ts";

export const TOKEN = "an-operator's-token-4711";

export interface ConsoleScene extends Scene {
  /** Of the admin listener. */
  readonly base: string;
  /** The section. */
  readonly admin: Readonly<Record<string, unknown>>;
  /** Writes another token into the file; to be taken up by a reload. */
  changeToken(token: string): Promise<void>;
}

type Sections = Readonly<Record<string, unknown>>;

/** Two policies that ask, one of them two people, and rules in report mode. */
const POLICIES = {
  default: "allow",
  policies: [
    {
      id: "payments",
      effect: "approve",
      tools: ["pay"],
      sensitivity: "financial",
      approval: { fields: [{ name: "reason", title: "Reason", audit: true }] },
    },
    { id: "two-people", effect: "approve", tools: ["wire"], approval: { quorum: {} } },
  ],
};

/** Sets the scene; everything ends with the test. */
export async function setConsole(t: Test, more: Sections = {}): Promise<ConsoleScene> {
  const file = `${t.testdir({ token: `${TOKEN}\n` })}/token`;
  const admin = { listen: "127.0.0.1:0", token: { file }, console: true };
  const scene = await setScene(t, {
    users: true,
    script: asksOnce,
    sections: () => ({
      admin,
      authorization: POLICIES,
      ...more,
    }),
  });
  return {
    ...{ ...scene, admin },
    base: scene.gateway.adminUrl ?? "",
    changeToken: (token) => writeFile(file, `${token}\n`),
  };
}

/** One round trip: asked, answered, done, and tried once more. @returns its chain */
export async function roundTrip({ gateway, ask, retry }: Scene): Promise<string> {
  const state = await ask();
  await retry(state);
  await retry(state);
  return gateway.audit.at(-1)?.brought?.chain ?? "";
}

/** A call of somebody that waits for somebody else. @returns replies to the question and to the answer */
export async function waitingCall(
  { gateway, owner }: Scene,
  more: Partial<Message["params"]> = {},
): Promise<Reply> {
  const message = {
    method: "tools/call",
    params: { name: "wire", arguments: { to: "acct-9", amount: 9_000 }, ...more },
  };
  const asked = await gateway.call(message, { token: owner });
  const { requestState } = asked.json.result;
  const params = {
    ...message.params,
    requestState,
    inputResponses: { approval: { action: "accept", content: {} } },
  };
  return gateway.call({ ...message, params }, { token: owner });
}

/** Calls a tool by whatever name. */
export const callNamed = ({ gateway, owner }: Scene, name: string): Promise<Reply> =>
  gateway.call(
    { method: "tools/call", params: { name, arguments: {} } },
    { token: owner, headers: { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` } },
  );

/** Goes to the page and signs in. */
export async function signIn(page: Page, base: string, token = TOKEN): Promise<void> {
  await page.goto(`${base}/console/`);
  await page.fill("#token", token);
  await page.click("#sign-in-form button");
  await page.until(`!document.querySelector("#panels").hidden`);
}

/** A token for somebody. */
export const tokenOf = ({ issuer }: Scene, sub: string, more: object = {}): Promise<string> =>
  issuer.token({ sub, aud: `${PUBLIC_URL}/mcp`, ...more });

export { TRANSFER };
