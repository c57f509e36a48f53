/**
 * DPoP for the gateway: proofs are checked, their nonce where one is asked for, and marked as used, in this order. The mark comes
 * last: what fails costs no write, and spends no proof.
 */
import { createHash } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { PROOF_BOUNDS } from "../config/token-settings.ts";
import { CredentialFault, IssuerUnavailable } from "./credential.ts";
import type { Owner } from "./principal.ts";
import { checkProof, type ProofDetail, ProofError, ProofKeys, type ProvedRequest } from "./proof.ts";
import { isNonce, makeNonce, type NonceKeys } from "./proof-nonce.ts";
import { type ReplayStore, ReplaysUnavailable } from "./replays.ts";

/** How far the clocks of replicas may differ, in milliseconds. */
const CLOCK_DRIFT_MS = 60_000;
/**
 * How long a mark is kept: as long as its proof could pass under any settings, and by any replica's clock. By the settings in force it
 * would be gone when somebody raises `maxAge`, and the proofs of the minutes before would be good once more.
 */
const MARK_LIFE_MS = PROOF_BOUNDS.maxAge + 2 * PROOF_BOUNDS.clockTolerance + CLOCK_DRIFT_MS;

/** Settings `authentication.dpop`. */
export type DpopSettings = NonNullable<Config["authentication"]["dpop"]>;

/** A proof that is refused; the client is told so, and which nonce to use where that is what was missing. */
export class ProofFault extends CredentialFault {
  readonly error: "invalid_dpop_proof" | "use_dpop_nonce";
  readonly nonce: string | undefined;

  constructor(detail: ProofDetail, owner: Owner, nonce?: string) {
    super(detail, { owner });
    this.error = nonce === undefined ? "invalid_dpop_proof" : "use_dpop_nonce";
    this.nonce = nonce;
  }
}

/** Judges proofs. */
export interface ProofJudge {
  /**
   * @param proof the `DPoP` header
   * @param owner of the token, for audit
   * @throws ProofFault for a proof that is not good here, IssuerUnavailable when it cannot be known whether it was used before
   */
  judge(proof: string | undefined, request: ProvedRequest, owner: Owner): Promise<void>;
}

/** What the judge needs. */
export interface ProofDeps {
  readonly replays: ReplayStore;
  readonly nonces: NonceKeys;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Makes the judge. */
export function createProofJudge(settings: DpopSettings, { replays, nonces, now }: ProofDeps): ProofJudge {
  const keys = new ProofKeys();
  return {
    async judge(proof, request, owner) {
      try {
        const { id, nonce } = await checkProof(proof, request, settings, keys, now());
        if (settings.nonce === "required" && (nonce === undefined || !isNonce(nonces, nonce, now()))) {
          throw new ProofFault("proof_nonce", owner, makeNonce(nonces, now()));
        }
        if (!(await replays.first(replayId(request.key, id), MARK_LIFE_MS))) {
          throw new ProofError("proof_replayed");
        }
      } catch (error) {
        if (error instanceof ProofError) throw new ProofFault(error.detail, owner);
        if (error instanceof ReplaysUnavailable)
          throw new IssuerUnavailable("replay_store", { cause: error });
        throw error;
      }
    },
  };
}

/** An id is good once for each key: whoever has another key cannot spend it. 132 bits of a hash, since there can be many. */
function replayId(key: string, jti: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([key, jti]), "utf8")
    .digest("base64url");
  return digest.slice(0, 22);
}
