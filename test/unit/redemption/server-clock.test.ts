import t from "tap";
import { CLOCK_BACK_SECONDS, ServerClock } from "../../../src/redemption/server-clock.ts";

const START = 1_800_000_000;

/** What a clock is told: seconds by the server, seconds by the gateway. */
const courses = (...told: [server: number, gateway: number][]) => {
  const clock = new ServerClock();
  return told.map(([server, gateway]) => clock.told(START + server, gateway * 1000));
};

t.test("a clock that keeps time is steady, through pauses and late answers", async (t) => {
  t.same(courses([0, 0], [1, 1.9], [1, 4], [3600, 3600], [3600, 3608]), Array(5).fill("steady"));
});

t.test("set ahead or back, by more than seconds, it is told once", async (t) => {
  t.same(courses([0, 0], [1200, 1], [1201, 2]), ["steady", "set", "steady"]);
  t.same(courses([0, 0], [-60, 1], [-59, 2]), ["steady", "set", "steady"]);
});

t.test("a clock that drifts is told each time it has drifted enough", async (t) => {
  t.same(courses([0, 0], [16, 10], [32, 20], [48, 30]), ["steady", "steady", "set", "steady"]);
});

t.test("back from where marks may be gone", async (t) => {
  t.same(courses([0, 0], [1200, 1], [2, 2], [3, 3]), ["steady", "set", "set_back", "steady"]);
  const far = CLOCK_BACK_SECONDS;
  t.same(courses([0, 0], [-far, 0]), ["steady", "set"]);
  t.same(courses([0, 0], [-far - 1, 0]), ["steady", "set_back"]);
});

t.test("a gateway that was stopped takes nothing for a clock that went back", async (t) => {
  t.same(courses([0, 0], [1, 3600], [3601, 3600.1]), ["steady", "set", "set"]);
});
