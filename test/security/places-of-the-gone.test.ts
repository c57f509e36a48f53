/** Clients that leave while their token is being verified: no place of theirs may stay taken. */
import { connect } from "node:net";
import t from "tap";
import { call } from "../integration/raw-requests.ts";
import { answers, DONE, TRANSFER } from "../integration/rounds.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";

const AUDIENCE = `${PUBLIC_URL}/mcp`;

t.test("calls and session streams that are reset before their token is judged", async (t) => {
  const upstream = await startUpstream(answers(DONE));
  const issuer = await startIssuer();
  const gateway = await startGateway(upstream.url, {
    server: {
      ...{ listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"] },
      limits: { inFlight: 3, streams: 2 },
    },
    admin: { listen: "127.0.0.1:0" },
    authentication: { mode: "required", issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
  });
  t.teardown(async () => {
    await gateway.close(0);
    await issuer.close();
    await upstream.close();
  });
  for (let round = 0; round < 30; round++) {
    // A new token each time: one that was verified before is not verified again.
    const token = await issuer.token({ aud: AUDIENCE, jti: `${round}` });
    const bearer = `Authorization: Bearer ${token}`;
    const stream = `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n${bearer}\r\n\r\n`;
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
      socket.write(round % 2 === 0 ? call(undefined, bearer) : stream, () => socket.resetAndDestroy());
    });
  }
  // Every one of them has come to its end, whichever that was.
  const free = /kind="body"\} 0[\s\S]*kind="request"\} 0[\s\S]*kind="stream"\} 0/;
  while (gateway.audit.length < 1 || !free.test(await (await fetch(`${gateway.adminUrl}/metrics`)).text())) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let i = 0; i < 4; i++) {
    const reply = await gateway.call(TRANSFER, { token: await issuer.token({ aud: AUDIENCE }) });
    t.equal(reply.status, 200);
  }
});
