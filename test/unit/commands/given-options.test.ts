import t from "tap";
import { COMMANDS } from "../../../src/commands/commands.ts";
import { readOptions } from "../../../src/commands/given-options.ts";
import { UsageError } from "../../../src/commands/usage-error.ts";

/** Ids as they come from random bytes: base64url begins with a dash once in 64 times. */
const IDS = [
  "ye6ZrXcL2mQk0bF1nT8v-w",
  "-ye6ZrXcL2mQk0bF1nT8vw",
  "--e6ZrXcL2mQk0bF1nT8vw",
  "---6ZrXcL2mQk0bF1nT8vw",
  "-hlpZrXcL2mQk0bF1nT8vw",
];

for (const command of COMMANDS) {
  const name = command.words.join(" ");
  const [file] = Object.keys(command.options).filter((option) => option === "config");
  const others = file === undefined ? [] : ["--config", "c.yaml"];

  for (const [option, { value }] of Object.entries(command.options)) {
    if (value === undefined || option === file) continue;
    t.test(`${name} --${option} takes a value that begins with a dash`, async (t) => {
      for (const id of IDS) {
        for (const args of [
          [...others, `--${option}`, id],
          [`--${option}`, id, ...others],
          [`--${option}=${id}`, ...others],
        ]) {
          const given = readOptions(command, command.argument === undefined ? args : [...args, "x"]);
          t.equal(given === "help" ? given : given.get(option), id, args.join(" "));
          if (given !== "help" && file !== undefined) t.equal(given.get("config"), "c.yaml");
        }
      }
    });
  }

  if (command.argument !== undefined) {
    const { name: argument } = command.argument;
    t.test(`${name} takes an argument that begins with a dash`, async (t) => {
      for (const id of [...IDS, "-"]) {
        for (const args of [
          [id, ...others],
          [...others, id],
          [...others, "--", id],
        ]) {
          const given = readOptions(command, args);
          t.equal(given === "help" ? given : given.get(argument), id, args.join(" "));
        }
      }
      t.throws(() => readOptions(command, [...IDS.slice(1, 3), ...others]), /more than one/);
    });
  }

  t.test(`${name} still takes no option for a value`, async (t) => {
    const wanted = command.argument === undefined ? [] : ["x"];
    const valued = Object.entries(command.options).filter(([, { value }]) => value !== undefined);
    for (const [option] of valued) {
      for (const known of [...Object.keys(command.options), "help"]) {
        t.throws(() => readOptions(command, [...wanted, `--${option}`, `--${known}`]), UsageError);
      }
      t.throws(() => readOptions(command, [...wanted, `--${option}`]), UsageError, "and not nothing");
      t.throws(() => readOptions(command, [...wanted, `--${option}`, "-h"]), UsageError);
    }
    t.equal(readOptions(command, ["--help"]), "help");
    t.equal(readOptions(command, ["-h"]), "help");
    t.throws(() => readOptions(command, [...wanted, "--no-such-option"]), /[Uu]nknown option/);
    if (command.argument === undefined) t.throws(() => readOptions(command, ["-x"]), /[Uu]nknown option/);
  });
}
