/** Requests to the gateway. The session's key lives in this tab only; the other half is a cookie that scripts cannot read. */

const KEY = "sealgate-console-key";

/** The session is over, or there is none. */
export class SignedOut extends Error {}

/** The gateway said no, in words for people. */
export class Refused extends Error {}

const keyInUse = () => sessionStorage.getItem(KEY);

/** Whether this tab has half a session; whether it is still good shows when it is used. */
export const hasSession = () => keyInUse() !== null;

/** @throws SignedOut, Refused */
export async function ask(path, { method = "GET", body } = {}) {
  const headers = { "x-sealgate-console": keyInUse() ?? "" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, {
    ...{ method, headers, cache: "no-store", credentials: "same-origin", redirect: "error" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = await answer.json().catch(() => ({}));
  if (answer.status === 401 && path !== "/v1/console/session") {
    sessionStorage.removeItem(KEY);
    throw new SignedOut("The session is over. Sign in again.");
  }
  if (!answer.ok) throw new Refused(typeof json.error === "string" ? json.error : `HTTP ${answer.status}`);
  return json;
}

/** @throws Refused */
export async function signIn(token) {
  const { key } = await ask("/v1/console/session", { method: "POST", body: { token } });
  sessionStorage.setItem(KEY, key);
}

export async function signOut() {
  try {
    await ask("/v1/console/session", { method: "DELETE" });
  } finally {
    sessionStorage.removeItem(KEY);
  }
}
