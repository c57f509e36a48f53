import t from "tap";
import { createDocumentReader, DocumentError, isPublicAddress } from "../../../src/principal/document.ts";

t.test("which addresses are public", async (t) => {
  const table: [address: string, isPublic: boolean][] = [
    ["8.8.8.8", true],
    ["172.15.0.1", true],
    ["172.32.0.1", true],
    ["2606:4700::1111", true],
    ["::ffff:8.8.8.8", true],
    ["0.0.0.0", false],
    ["10.1.2.3", false],
    ["100.64.0.1", false],
    ["127.0.0.1", false],
    ["127.255.255.254", false],
    ["169.254.169.254", false],
    ["172.16.0.1", false],
    ["192.168.0.1", false],
    ["198.18.0.1", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::127.0.0.1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:a9fe:a9fe", false],
    ["64:ff9b::7f00:1", false],
    ["2002:7f00:1::", false],
    ["fd00::1", false],
    ["fe80::1", false],
    ["ff02::1", false],
    ["::ffff:0:127.0.0.1", false],
    ["64:ff9b::7f00:1", false],
    ["3fff::1", false],
    ["5f00::1", false],
    ["4000::1", false],
    ["fe80::1%lo", false],
    ["2606:4700::1111%2", false],
    ["idp.example", false],
    ["", false],
  ];
  for (const [address, isPublic] of table) t.equal(isPublicAddress(address), isPublic, address);
});

t.test("a URL from a document reaches no internal address", async (t) => {
  const reader = createDocumentReader(1_000);
  t.teardown(() => reader.close());
  for (const host of [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "10.0.0.1",
  ]) {
    await t.rejects(reader.read(`https://${host}:9/keys`, false), new DocumentError("address"), host);
  }
});

t.test("the address that was judged is the one connected to: one question for each read", async (t) => {
  const asked: string[] = [];
  const answers = [
    ["93.184.215.14", "127.0.0.1"],
    ["127.0.0.1"],
    ["::ffff:169.254.169.254"],
    ["10.1.2.3"],
    [],
  ];
  const reader = createDocumentReader(1_000, (hostname, _options, callback) => {
    asked.push(hostname);
    const addresses = answers[asked.length - 1] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  });
  t.teardown(() => reader.close());
  for (const _ of answers) {
    await t.rejects(reader.read("https://rebound.example:9/keys", false), new DocumentError("address"));
  }
  t.same(
    asked,
    answers.map(() => "rebound.example"),
  );
  // The honest neighbour gets as far as its public address, where nobody is to be reached from here.
  const honest = createDocumentReader(50, (_hostname, _options, callback) =>
    callback(null, [{ address: "93.184.215.14", family: 4 }]),
  );
  t.teardown(() => honest.close());
  const fault = await honest
    .read("https://idp.example:9/keys", false)
    .catch((error: DocumentError) => error.fault);
  t.match(fault, /^(unreachable|timeout)$/);
});
