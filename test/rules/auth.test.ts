import t from "tap";
import { authCases, sectionsFor, setCallers } from "./auth-cases.ts";
import { runCases } from "./stage.ts";

const callers = await setCallers();
t.teardown(() => callers.issuer.close());

runCases(t, authCases(callers), () => sectionsFor(callers));
