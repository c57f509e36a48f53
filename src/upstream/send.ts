/**
 * The last step of the request half, and the release of a redemption: after the first byte it is spent for good.
 * docs/redemption.md.
 */
import type { Journey } from "../journey.ts";
import { type Credential, withCredential } from "./credentials.ts";
import type { UpstreamResponse } from "./dispatch.ts";
import { UpstreamFailure } from "./failures.ts";

/** What is sent, and how to give the state back if it surely did not arrive. */
export interface Sending {
  readonly method: "POST" | "GET" | "DELETE";
  /** But for the credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential | undefined;
  readonly body: Buffer | null;
  readonly openEnded: boolean;
  /** Gives back what this request redeemed. */
  readonly release: (() => Promise<void>) | undefined;
}

/**
 * Sends a request once.
 * @throws Refusal for a request that got no response head; a redeemed state is given back only if nothing was sent
 */
export async function send(journey: Journey, sending: Sending): Promise<UpstreamResponse> {
  const { method, credential, body, openEnded, release } = sending;
  const { trace } = journey;
  const headers = withCredential(trace?.headersUp(sending.headers) ?? sending.headers, credential);
  const { signal } = journey;
  // It can have been stopped while its state was redeemed, and then the upstream is not even asked to connect.
  if (journey.stopped !== undefined) {
    await giveBack(journey, release);
    throw journey.stopped;
  }
  try {
    const retry = release !== undefined;
    trace?.beginCall();
    const response = await journey.route.upstream.send({ method, headers, body, retry, openEnded, signal });
    journey.sent = true;
    journey.draft.upstreamStatus = response.status;
    // The next request gets another one. This one is never sent again: the server may have read it.
    if (response.status === 401 && credential !== undefined) journey.route.credentials.refused(credential);
    return response;
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    journey.sent = !error.nothingSent;
    trace?.failCall();
    // outcome: given back only if the upstream surely got nothing; after the first byte it is spent for good.
    if (error.nothingSent) await giveBack(journey, release);
    throw journey.stopped ?? error.refusal;
  }
}

async function giveBack(journey: Journey, release: Sending["release"]): Promise<void> {
  if (release === undefined) return;
  await release();
  journey.draft.state = "released";
}
