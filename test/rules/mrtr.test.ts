import t from "tap";
import { MRTR_CASES } from "./mrtr-cases.ts";
import { runCases } from "./stage.ts";

runCases(t, MRTR_CASES, () => ({ roundTrip: { maxRounds: 3 } }));
