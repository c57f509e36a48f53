/** What `--keep` prints: commands to paste into another terminal, and what the gateway makes of them as they come. */
import type { AuditRecord } from "../src/audit/record.ts";
import type { Stage } from "./stage.ts";

/**
 * The commands, in order, for any POSIX shell. Comments hold no character that an interactive zsh, which runs them, minds.
 */
export function commands({ issuer, gatewayUrl, adminUrl, server }: Stage): string {
  const metrics =
    adminUrl === undefined
      ? ""
      : `
# what the gateway has refused so far
curl -sS ${adminUrl}/metrics | grep '^sealgate_refusals'
`;
  return `# a token for alice, good for an hour, and any other name will do
TOKEN=$(curl -sS ${issuer.issuer}/token -d grant_type=client_credentials -d client_id=alice \\
  -d resource=${gatewayUrl} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

# one call of the tool transfer, as mcp ID AMOUNT and more members of params
mcp() { curl -sS \${URL:-${gatewayUrl}} -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: transfer' \\
  -d '{"jsonrpc":"2.0","id":'"$1"',"method":"tools/call","params":{"name":"transfer",
    "arguments":{"to":"acct-9","amount":'"$2"'},'"\${3:-}"'"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}'; echo; }

# ask for a transfer of 50: the question comes back with a sealed state
STATE=$(mcp 1 50 | sed 's/.*"requestState":"\\([^"]*\\)".*/\\1/'); echo "$STATE"

# say yes to it, once
YES='"inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}},'
mcp 2 50 "$YES\\"requestState\\":\\"$STATE\\","

# and once more: it is spent
mcp 3 50 "$YES\\"requestState\\":\\"$STATE\\","

# the same state for 5000: refused, and not a hint why
mcp 4 5000 "$YES\\"requestState\\":\\"$STATE\\","

# past the gateway, to the server itself: a state to read and to write
URL=${server.url} mcp 5 50 \\
  | sed 's/.*"requestState":"\\([^"]*\\)".*/\\1/' | base64 -d; echo
${metrics}
# the MCP Inspector, from the npm registry, here in the checkout, whose Node is new enough for it
npx -y @modelcontextprotocol/inspector@latest --cli ${gatewayUrl} \\
  --transport http --protocol-era modern --header "Authorization: Bearer $TOKEN" \\
  --method tools/list
`;
}

/** One audit record as one line. */
export function auditLine(record: AuditRecord): string {
  const { time, principal, method = "-", target, outcome, code, cause, state } = record;
  const who = principal?.subject ?? "nobody";
  const what = target === undefined ? method : `${method} ${target.name}`;
  const why = code === undefined ? (state ?? "") : code === cause ? code : `${code}: ${cause}`;
  return `${time.slice(11, 19)} ${who.padEnd(8)} ${what.padEnd(28)} ${outcome.padEnd(14)} ${why}`.trimEnd();
}
