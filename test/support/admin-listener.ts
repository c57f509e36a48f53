/** An admin listener that answers as it is told, and the client's view of it. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AdminPlace, AdminRefused } from "../../src/admin/client.ts";

/** One request. */
export interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
}

/** Starts one; `heard` is what it was asked, oldest first. @param timeoutMs how long the client waits for it */
export async function adminListener(
  t: { teardown(run: () => unknown): void },
  answer: (response: ServerResponse) => unknown,
  timeoutMs = 500,
): Promise<AdminPlace & { readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    heard.push({ method: request.method, url: request.url, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: "token", timeoutMs, heard };
}

/** An answer in JSON. */
export const json =
  (status: number, value: unknown) =>
  (response: ServerResponse): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

/** The message of a refusal. */
export const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error) => (error instanceof AdminRefused ? error.message : `another error: ${error}`),
  );
