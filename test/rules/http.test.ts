import t from "tap";
import { HTTP_CASES } from "./http-cases.ts";
import { runCases } from "./stage.ts";

runCases(t, HTTP_CASES);
