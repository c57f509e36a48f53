/** Whatever is sent as a proof, a URL, a token or an answer: it is read or refused, in the way that is meant, and never otherwise. */
import fc from "fast-check";
import t from "tap";
import { ALGORITHMS } from "../../../src/config/algorithms.ts";
import { parseAuthorization } from "../../../src/principal/bearer.ts";
import { ClaimError } from "../../../src/principal/claims.ts";
import { splitBinding } from "../../../src/principal/confirmation.ts";
import {
  AnswerFault,
  BrokenAnswer,
  checkToken,
  checkUse,
  parseAnswer,
} from "../../../src/principal/introspection-answer.ts";
import { checkProof, normalUrl, ProofError, ProofKeys } from "../../../src/principal/proof.ts";
import { isJwt, issuerOf, tokenKinds } from "../../../src/principal/token-form.ts";

const segment = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "").toString("base64url");
/** Three parts, some of them what such a text is made of. */
const jws = fc
  .tuple(
    fc.oneof(
      fc.record(
        {
          alg: fc.constantFrom(...ALGORITHMS, "none", "HS256"),
          typ: fc.constantFrom("dpop+jwt", "JWT"),
          jwk: fc.oneof(
            fc.record({
              kty: fc.constantFrom("EC", "RSA", "OKP", "oct"),
              crv: fc.string(),
              x: fc.string(),
              n: fc.string(),
            }),
            fc.anything(),
          ),
        },
        { requiredKeys: [] },
      ),
      fc.anything(),
    ),
    fc.oneof(fc.record({ iss: fc.anything(), jti: fc.anything(), iat: fc.anything() }), fc.anything()),
    fc.string(),
  )
  .map(([head, body, signature]) => {
    try {
      return `${segment(head)}.${segment(body)}.${signature}`;
    } catch {
      return signature;
    }
  });
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string(), jws);
const runs = { numRuns: 2_000 };

t.test("a proof is refused with a ProofError", async () => {
  const request = { method: "POST", url: "https://g.example/mcp", token: "t", key: "A".repeat(43) };
  const terms = { algorithms: [...ALGORITHMS], maxAge: 1_000, clockTolerance: 0 };
  await fc.assert(
    fc.asyncProperty(text, async (proof) => {
      try {
        await checkProof(proof, request, terms, new ProofKeys(), 0);
      } catch (error) {
        return error instanceof ProofError;
      }
      return false;
    }),
    runs,
  );
});

t.test("a URL that is normal stays as it is, and one that is read is of our scheme", async () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.webUrl({ withFragments: true, withQueryParameters: true })), (given) => {
      const normal = normalUrl(given);
      if (normal === undefined) return true;
      return normalUrl(normal) === normal && /^https?:\/\/[^/@?#\s]+\/[^?#\s]*$/.test(normal);
    }),
    runs,
  );
});

t.test("an answer is read or broken, and nothing of it opens by another exception", async () => {
  const claims = fc.dictionary(
    fc.constantFrom("active", "iss", "aud", "exp", "nbf", "iat", "sub", "token_type", "typ", "cnf", "x"),
    fc.oneof(fc.jsonValue(), fc.constant(true)),
  );
  const bytes = fc.oneof(
    fc.uint8Array().map((array) => Buffer.from(array)),
    claims.map((object) => Buffer.from(JSON.stringify(object))),
  );
  fc.assert(
    fc.property(bytes, text, (answer, token) => {
      try {
        const read = parseAnswer(answer);
        if (read === undefined) return true;
        if (read["active"] !== true) return false;
        checkToken(read, "https://i.example", token);
        checkUse(read, { audiences: ["a"], clockTolerance: 0 }, 0);
        splitBinding(read);
      } catch (error) {
        return [AnswerFault, BrokenAnswer, ClaimError].some((kind) => error instanceof kind);
      }
      return true;
    }),
    runs,
  );
});

t.test("each token is of one kind, and is read without an exception", async () => {
  const kindOf = tokenKinds(["https://a.example"], ["https://b.example"]);
  fc.assert(
    fc.property(text, (token) => {
      const kind = kindOf(token);
      if (!isJwt(token)) return kind === "introspection";
      return kind === (issuerOf(token) === "https://b.example" ? "introspection" : "jwt");
    }),
    runs,
  );
  fc.assert(
    fc.property(text, fc.boolean(), (header, takesDpop) => {
      const read = parseAuthorization(header, takesDpop);
      if (read.kind !== "token") return true;
      const scheme = header.split(" ")[0]?.toLowerCase();
      return (
        scheme === read.scheme && (takesDpop || scheme === "bearer") && header.endsWith(` ${read.token}`)
      );
    }),
    runs,
  );
});
