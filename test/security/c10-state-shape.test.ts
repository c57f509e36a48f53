/** C10: `requestState` is null, a number, an array or an object. */
import t from "tap";
import { passes, refuses, refusesState, request, setScene } from "./scene.ts";

const scene = await setScene(t);
const TARGET = `"name":"transfer","arguments":{"to":"acct-9","amount":50}`;
const ANSWERS = `,"inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`;
const state = await scene.ask();

const SHAPES = [
  "12",
  "1e400",
  "-0",
  "true",
  "false",
  "{}",
  "[]",
  `["${state}"]`,
  `[["${state}"]]`,
  `{"toString":"${state}"}`,
  `{"__proto__":"${state}"}`,
  `{"length":200,"0":"s"}`,
];

t.test("no string: refused, with and without answers", async (t) => {
  for (const shape of SHAPES) {
    for (const answers of ["", ANSWERS]) {
      const body = request(`${TARGET},"requestState":${shape}${answers}`);
      await refusesState(t, scene, () => scene.raw(body), { id: "7", cause: "shape" });
    }
  }
});

t.test("null is absent: with answers they stand alone, without any it is a first round", async (t) => {
  await refusesState(t, scene, () => scene.raw(request(`${TARGET},"requestState":null${ANSWERS}`)), {
    id: "7",
    cause: "absent",
  });
  for (const members of [
    `"requestState":null`,
    `"requestState":null,"inputResponses":null`,
    `"inputResponses":null`,
  ]) {
    const arrived = await passes(t, scene, () => scene.raw(request(`${members},${TARGET}`)));
    t.equal(arrived.body, request(TARGET), "the nulls do not go up");
  }
});

t.test("an unpaired surrogate in the state", async (t) => {
  await refuses(t, scene, () => scene.raw(request(`${TARGET},"requestState":"\\ud800"`)), {
    status: 400,
    code: -32602,
  });
});

t.test("the right state still works", async (t) => {
  await passes(t, scene, () => scene.raw(request(`${TARGET},"requestState":"${state}"${ANSWERS}`)));
});
