/** Entries and principals for tests of overrides. */
import { randomBytes } from "node:crypto";
import type { Grant, Revocation } from "../../../src/overrides/entry.ts";
import type { Principal } from "../../../src/principal/principal.ts";

export const NOW = 1_900_000_000_000;
export const SECOND = Math.floor(NOW / 1000);

export const newId = (): string => randomBytes(16).toString("base64url");

export const ALICE: Principal = {
  anonymous: false,
  issuer: "https://id.example",
  subject: "alice",
  client: "desk",
  tenant: "acme",
  groups: ["staff", "night"],
  scopes: [],
};

export const revocation = (target: Revocation["target"], change: Partial<Revocation> = {}): Revocation => ({
  kind: "revocation",
  id: newId(),
  setAt: NOW,
  until: NOW + 60_000,
  by: "test",
  target,
  bornBefore: SECOND,
  ...change,
});

export const grant = (change: Partial<Grant>): Grant => ({
  kind: "grant",
  id: newId(),
  setAt: NOW,
  until: NOW + 60_000,
  by: "test",
  effect: "allow",
  ...change,
});
