/**
 * One request to an endpoint of an authorization server: a form over POST, with the gateway's own authentication (RFC 6749 section
 * 2.3, RFC 7662 section 2.1). Sent once, without redirect or retry. What comes back is untrusted, and the caller's to bound and read.
 */
import { type Dispatcher, request } from "undici";
import type { Authentication } from "./client-authentication.ts";

/** What is sent, and over what. */
export interface FormPost {
  /** Bounds connections, sizes and times. */
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  readonly authentication: Authentication;
  /** Members besides those that authenticate; may hold a caller's token. */
  readonly form: readonly (readonly [string, string])[];
}

/** Posts a form to `url`, which is the operator's. @throws what undici throws */
export function postForm(
  url: string,
  { dispatcher, signal, authentication, form }: FormPost,
): Promise<Dispatcher.ResponseData> {
  const members = [...form, ...Object.entries(authentication.form)];
  return request(url, {
    method: "POST",
    dispatcher,
    signal,
    headers: {
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/x-www-form-urlencoded",
      ...authentication.headers,
    },
    body: new URLSearchParams(members.map(([name, value]): [string, string] => [name, value])).toString(),
  });
}
