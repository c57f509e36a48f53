import t from "tap";
import { checkedLookup, checkHost, NotHere, type Resolve } from "../../../src/review/reach.ts";

const resolving = (...addresses: string[]): Resolve => {
  return (_host, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
};

const look = (resolve: Resolve, remote = false): Promise<unknown> =>
  new Promise((done) =>
    checkedLookup(remote, resolve)("endpoint.test", { all: true }, (error, found) => done(error ?? found)),
  );

t.test("a name is connected to only if all its addresses are of this machine", async (t) => {
  t.strictSame(await look(resolving("127.0.0.1", "::1")), [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  for (const address of ["10.0.0.1", "169.254.169.254", "93.184.215.14", "fe80::1", "0.0.0.0", "localhost"])
    t.ok((await look(resolving("127.0.0.1", address))) instanceof NotHere, address);
  t.ok((await look(resolving())) instanceof Error, "a name without an address");
  t.strictSame(
    await look(resolving("10.0.0.1"), true),
    [{ address: "10.0.0.1", family: 4 }],
    "with --remote",
  );
});

t.test("the first of them where one is asked for", async (t) => {
  checkedLookup(false, resolving("127.0.0.2"))("endpoint.test", {}, (error, address, family) =>
    t.strictSame([error, address, family], [null, "127.0.0.2", 4]),
  );
});

t.test("an address in the URL is judged itself", async (t) => {
  for (const host of ["127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:7f00:1]", "2130706433", "localhost"])
    await t.resolves(checkHost(new URL(`http://${host}:1/`), false, resolving("127.0.0.1")), host);
  for (const host of ["10.0.0.1", "[fe80::1]", "[::ffff:a00:1]", "0.0.0.0", "0xa000001"])
    await t.rejects(checkHost(new URL(`http://${host}:1/`), false, resolving("127.0.0.1")), NotHere, host);
  await t.resolves(checkHost(new URL("http://10.0.0.1/"), true));
  await t.rejects(checkHost(new URL("http://localhost.evil.test/"), false, resolving("10.0.0.1")), NotHere);
});
