/** C25: a media type in another spelling switches the gate off. */
import t from "tap";
import { answers, DONE, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  script: answers(DONE),
  sections: (url) => ({
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
    authorization: { policies: [{ id: "notes", effect: "allow", tools: ["read_note"] }] },
  }),
});
const read = { method: "tools/call", params: { name: "read_note" } };
const wipe = { method: "tools/call", params: { name: "delete_note" } };
const body = (name: string): string => request(`"name":"${name}","arguments":{"id":1}`);

const JSON_TYPES = [
  "Application/json",
  "APPLICATION/JSON",
  "application/json;charset=UTF-8",
  'application/json; charset="utf-8"',
  "application/json ; Charset=utf-8",
  "application/json;profile=x",
  "application/json;",
];
const OTHER_TYPES = [
  "application/vnd.api+json",
  "application/json-seq",
  "application/jsonl",
  "application/json+x",
  "text/json",
  "text/plain",
  "text/plain; application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json, text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=utf-7",
  "application/json\u00a0",
  "*/*",
  "json",
  "",
];

t.test("JSON in any legal spelling goes through all checks", async (t) => {
  for (const type of JSON_TYPES) {
    const headers = { "content-type": type };
    const hidden = () => scene.raw(body("delete_note"), wipe, headers);
    const { json } = await refuses(t, scene, hidden, { status: 200, code: -32602 });
    t.equal(json.error.message, "Unknown tool", type);
    const arrived = await passes(t, scene, () => scene.raw(body("read_note"), read, headers));
    t.equal(arrived.headers["content-type"], "application/json", "the gateway's own");
  }
});

t.test("anything else is 415, in either era, and never forwarded as it is", async (t) => {
  for (const type of [...OTHER_TYPES, undefined]) {
    for (const era of [
      {},
      { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined },
    ]) {
      const headers = { ...era, "content-type": type };
      await refuses(t, scene, () => scene.raw(body("read_note"), read, headers), { status: 415 });
    }
  }
});

t.test("a content coding of the request", async (t) => {
  for (const coding of ["gzip", "br", "identity, gzip", "x-unknown", "GZIP"]) {
    const headers = { "content-encoding": coding };
    await refuses(t, scene, () => scene.raw(body("read_note"), read, headers), { status: 415 });
  }
  const arrived = await passes(t, scene, () =>
    scene.raw(body("read_note"), read, { "content-encoding": "Identity" }),
  );
  t.equal(arrived.headers["content-encoding"], undefined);
});

t.test("texts that are JSON to nobody, under the right type", async (t) => {
  const valid = body("read_note");
  for (const bytes of [
    Buffer.from(valid, "utf16le"),
    Buffer.from(`\ufeff${valid}`),
    Buffer.from(valid.replaceAll('"', "'")),
    Buffer.from(valid.replace('"id":7', '"id":NaN')),
    Buffer.from(valid.replace('"id":7', '"id":0x7')),
    Buffer.from(`${valid}//`),
    Buffer.from(`jsonrpc=2.0&method=tools/call`),
  ]) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    await refuses(t, scene, () => scene.gateway.send({ headers, body: bytes }), {
      status: 400,
      code: -32700,
    });
  }
});

t.test("other HTTP methods do not carry the call", async (t) => {
  const text = body("delete_note");
  for (const method of ["PUT", "PATCH", "OPTIONS", "GET", "DELETE", "QUERY", "PROPFIND"]) {
    const headers = {
      "content-type": "application/json",
      "content-length": String(text.length),
      "mcp-protocol-version": "2026-07-28",
      "x-http-method-override": "POST",
    };
    const before = scene.bytesUp();
    const reply = await scene.gateway.send({ method, headers, body: text });
    t.ok([404, 405].includes(reply.status), `${method} ${reply.status}`);
    t.equal(scene.bytesUp(), before);
  }
});
