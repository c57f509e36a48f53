/** The next command is shown as the operator has typed this one. */
import t from "tap";
import { programAs } from "../../../src/init/program.ts";

t.test("as it was started", async (t) => {
  for (const [script, isNpx, said] of [
    ["/usr/bin/sealgate", false, "sealgate"],
    ["/a/node_modules/.bin/sealgate", true, "npx sealgate"],
    ["/a/src/main.ts", false, "node src/main.ts"],
    ["/a/src/main.ts", true, "npx node src/main.ts"],
    ["/a/dist/main.js", false, "node dist/main.js"],
    ["/b/src/main.ts", false, "node /b/src/main.ts"],
    ["/b/it's here/main.ts", false, "node '/b/it'\\''s here/main.ts'"],
    ["", false, "sealgate"],
  ] as const)
    t.equal(programAs(script, "/a", isNpx), said);
});
