/** What a state costs before anybody knows that it is one: its own bytes, and not those of the request around it. */
import t from "tap";
import type { Call } from "../../../src/call.ts";
import { Refusal } from "../../../src/errors.ts";
import { scan } from "../../../src/json/scan.ts";
import { ephemeralKeyring } from "../../../src/keyring.ts";
import { openRetry, type RoundTripContext } from "../../../src/round-trip/retry.ts";

const ring = ephemeralKeyring();
const keyId = ring.primary.keyId;
const context = { keys: { ring }, audience: "a", maxTokenBytes: 4096 } as unknown as RoundTripContext;

/** Why a state is refused, and how often objects of the request were read for it. */
function present(state: string): { readonly cause: string; readonly objects: number } {
  const params = { name: "x", arguments: { a: [{}, {}, { b: {} }] }, requestState: state };
  const doc = scan(Buffer.from(JSON.stringify({ params })), { bytes: 1 << 20, depth: 64 });
  let objects = 0;
  const members = doc.members.bind(doc);
  const counted: typeof members = (node) => {
    objects += 1;
    return members(node);
  };
  Object.assign(doc, { members: counted });
  const journey = {
    route: { config: { path: "/mcp", upstream: { url: "http://u/" }, roundTrip: { rejection: "error" } } },
    principal: { anonymous: true, groups: [], scopes: [] },
    draft: {},
  };
  const message = { method: "tools/call", id: "1" };
  const call = { doc, params: doc.get(doc.root, "params"), message, journey, version: "v" };
  try {
    openRetry(context, call as unknown as Call);
  } catch (error) {
    if (error instanceof Refusal) return { cause: error.detail, objects };
    throw error;
  }
  throw new Error("nothing was refused");
}

const token = (id: Uint8Array): string =>
  `sg1.${Buffer.concat([id, Buffer.alloc(24 + 16 + 300)]).toString("base64url")}`;

t.test("what cannot be a state costs no digest of the request", (t) => {
  const foreign = Buffer.from(keyId).map((byte) => byte ^ 1);
  t.same(present("x"), { cause: "prefix", objects: 0 });
  t.same(present("sg1.A"), { cause: "encoding", objects: 0 });
  t.same(present(`${token(keyId)}=`), { cause: "encoding", objects: 0 });
  t.same(present(`sg1.${"A".repeat(5_000)}`), { cause: "size", objects: 0 });
  t.same(present(token(foreign)), { cause: "unknown_key", objects: 0 });
  t.end();
});

t.test("of a known key id every state costs the same, before it is opened", (t) => {
  const forged = present(token(keyId));
  t.equal(forged.cause, "aead");
  t.ok(forged.objects > 0);
  t.end();
});
