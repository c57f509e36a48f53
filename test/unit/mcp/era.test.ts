import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import { decideEra, servedVersions } from "../../../src/mcp/era.ts";
import { parseClientMessage } from "../../../src/mcp/message.ts";

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const metaOf = (version: string) => META.replace("2026-07-28", version);
const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}}`;
const note = (params: string) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{${params}}}`;
const reply = (result: string) => `{"jsonrpc":"2.0","id":1,"result":{${result}}}`;

function decide(header: string | undefined, text: string) {
  const doc = scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
  return decideEra({ header, doc, message: parseClientMessage(doc) });
}

t.test("the eras of honest messages", async (t) => {
  const modern = { era: "modern", version: "2026-07-28" };
  const legacy = (version?: string) => ({ era: "legacy", version });
  const cases: [header: string | undefined, text: string, era: object][] = [
    ["2026-07-28", call(META), modern],
    [" 2026-07-28\t", call(META), modern],
    ["2026-07-28", call(`${META},"requestState":"S","inputResponses":{}`), modern],
    ["2026-07-28", note(META), modern],
    ["2026-07-28", note(""), modern],
    [undefined, note(META), modern],
    ["2026-07-28", reply(""), modern],
    [undefined, call(""), legacy()],
    [undefined, '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}', legacy()], // biome-ignore format: one case, one line
    ["2025-11-25", call('"name":"x","_meta":{"progressToken":1}'), legacy("2025-11-25")],
    ["2024-11-05", call(""), legacy("2024-11-05")],
    ["2025-06-18", note(""), legacy("2025-06-18")],
    ["2025-06-18", reply('"action":"accept","content":{"requestState":"a field"}'), legacy("2025-06-18")],
    [undefined, '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', legacy()],
    [undefined, call('"arguments":{"requestState":"S","inputResponses":{}}'), legacy()],
  ];
  for (const [header, text, era] of cases) t.same(decide(header, text), era, `${header} ${text}`);
});

t.test("every mix is refused", async (t) => {
  const capabilities = '"io.modelcontextprotocol/clientCapabilities"';
  const cases: [header: string | undefined, text: string, code: string][] = [
    // header against body
    ["2025-11-25", call(META), "header_mismatch"],
    ["2026-07-28", call(metaOf("2025-11-25")), "header_mismatch"],
    ["2026-07-28", call(metaOf("2027-01-01")), "header_mismatch"],
    ["2026-07-28", note(metaOf("2025-11-25")), "header_mismatch"],
    ["2025-11-25", note(META), "header_mismatch"],
    [undefined, call(META), "header_mismatch"],
    // malformed header
    ["", call(META), "header_mismatch"],
    ["", call(""), "header_mismatch"],
    ["latest", call(""), "header_mismatch"],
    ["2026-07-28, 2026-07-28", call(META), "header_mismatch"],
    ["2025-11-25 ,2026-07-28", call(""), "header_mismatch"],
    ["DRAFT-2026-v1", call(META), "header_mismatch"],
    ["20260728", call(META), "header_mismatch"],
    ["２０２６-07-28", call(""), "header_mismatch"],
    ["12026-07-28", call(""), "header_mismatch"],
    // a modern header without its members
    ["2026-07-28", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', "missing_meta"],
    ["2026-07-28", call(""), "missing_meta"],
    ["2026-07-28", call('"_meta":{}'), "missing_meta"],
    ["2026-07-28", call('"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'), "missing_meta"],
    ["2026-07-28", call(`"_meta":{${capabilities}:{}}`), "missing_meta"],
    ["2026-07-28", call(META.replace("{}", "[]")), "missing_meta"],
    ["2026-07-28", call(META.replace('"2026-07-28"', "20260728")), "missing_meta"],
    ["2026-07-28", note(META.replace('"2026-07-28"', "null")), "missing_meta"],
    // modern-looking, not served
    ["2027-01-01", call(metaOf("2027-01-01")), "unsupported_version"],
    ["v999.0.0", call(metaOf("v999.0.0")), "unsupported_version"],
    ["DRAFT-2026-v1", note(metaOf("DRAFT-2026-v1")), "unsupported_version"],
    ["v999.0.0", call(metaOf("v999.0.1")), "header_mismatch"],
    ["2026-07-29", call(""), "unsupported_version"],
    ["2026-01-01", call(""), "unsupported_version"],
    ["9999-99-99", note(""), "unsupported_version"],
    ["2027-01-01", reply(""), "unsupported_version"],
    [undefined, note(metaOf("2027-01-01")), "unsupported_version"],
    // modern members under an old version
    ["2025-11-25", call(metaOf("2025-11-25")), "unsupported_version"],
    ["2025-11-25", call(`"_meta":{${capabilities}:{}}`), "unsupported_version"],
    [undefined, call(`"_meta":{${capabilities}:{}}`), "header_mismatch"],
    [undefined, call('"_meta":{"io.modelcontextprotocol/logLevel":"debug"}'), "header_mismatch"],
    [undefined, call('"_meta":{"IO.ModelContextProtocol/x":1}'), "header_mismatch"],
    [undefined, note('"_meta":{"io.modelcontextprotocol/x":1}'), "missing_meta"],
    // state and answers without a modern sign
    ["2025-11-25", call('"requestState":"S"'), "invalid_request_state"],
    ["2025-11-25", call('"requestState":null'), "invalid_request_state"],
    ["2024-11-05", call('"inputResponses":{}'), "invalid_request_state"],
    [undefined, call('"requestState":"S"'), "invalid_request_state"],
    [undefined, note('"inputResponses":{}'), "invalid_request_state"],
    ["2025-11-25", reply('"requestState":"S"'), "invalid_request_state"],
    [undefined, reply('"InputResponses":{}'), "invalid_request_state"],
    // twins by case beside the real members
    ["2026-07-28", call(META.replace(capabilities, `"io.modelcontextprotocol/ClientCapabilities":{"roots":{}},${capabilities}`)), "invalid_request"], // biome-ignore format: one case, one line
  ];
  for (const [header, text, code] of cases)
    t.throws(() => decide(header, text), { code }, `${header} ${text}`);
});

t.test("what the client gets to know", async (t) => {
  t.throws(() => decide("2027-01-01", call("")), {
    name: "Refusal",
    data: { supported: ["2026-07-28"], requested: "2027-01-01" },
  });
  t.throws(() => decide("2025-11-25", call(META)), {
    name: "Refusal",
    data: { header: "MCP-Protocol-Version" },
  });
});

t.test("what a route serves, newest first", async (t) => {
  t.same(servedVersions("refuse"), ["2026-07-28"]);
  t.same(servedVersions("pass"), ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
});
