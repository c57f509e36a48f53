import t from "tap";
import { PROTOCOL_CASES } from "./protocol-cases.ts";
import { runCases } from "./stage.ts";

runCases(t, PROTOCOL_CASES);
