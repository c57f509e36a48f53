import t from "tap";
import { CREDENTIAL_CASES, ELICITATION_CASES, SAMPLING_CASES } from "./elicitation-cases.ts";
import { runCases } from "./stage.ts";

runCases(t, [...ELICITATION_CASES, ...SAMPLING_CASES, ...CREDENTIAL_CASES]);
