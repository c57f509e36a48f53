import t from "tap";
import { compileNetworks, networkFault } from "../../../src/config/networks.ts";

t.test("entries mean what they say, or are refused", async (t) => {
  for (const text of [
    "10.0.0.0/8",
    "10.1.2.3",
    "10.1.2.3/32",
    "::1",
    "fd00::/8",
    "2001:db8::/32",
    "0:0:0:0:0:0:0:1",
  ]) {
    t.equal(networkFault(text), undefined, text);
  }
  for (const [fault, texts] of Object.entries({
    malformed: [
      "",
      "a",
      "10.0.0",
      "10.0.0.0/33",
      "10.0.0.0/08",
      "010.0.0.1",
      "10.0.0.0/",
      "::/129",
      "[::1]",
      " ::1",
      "10.0.0.0/8,::1",
    ],
    zone: ["fe80::1%eth0", "fe80::1%eth0/64", "fe80::/10%1"],
    mapped: ["::ffff:10.0.0.0/104", "::FFFF:10.0.0.1", "::ffff:a00:1", "0:0:0:0:0:ffff:a00:1"],
    everybody: ["0.0.0.0/0", "::/0", "10.0.0.0/0"],
    host_bits: ["10.0.0.1/8", "10.0.0.128/24", "fd00::1/8", "2001:db8:1::/32", "::1/127"],
  })) {
    for (const text of texts) t.equal(networkFault(text), fault, text);
  }
});

t.test("addresses of peers, as systems write them", async (t) => {
  const isListed = compileNetworks(["10.0.0.0/8", "127.0.0.2", "fd00::/8", "fe80::/10"]);
  for (const address of [
    "10.0.0.0",
    "10.255.255.255",
    "127.0.0.2",
    "::ffff:10.1.2.3",
    "::FFFF:127.0.0.2",
    "fd12::1",
  ]) {
    t.ok(isListed(address), address);
  }
  for (const address of [
    ...["", "unknown", "11.0.0.0", "9.255.255.255", "127.0.0.1", "::ffff:127.0.0.1", "fc00::1", "::1"],
    // In a spelling that no system gives to a peer, and with a zone, which a list cannot mean.
    ...["::ffff:a01:203", "010.0.0.1", "10.1.2.3 ", "fe80::1%eth0", "10.1.2.3, 10.1.2.4", "::10.1.2.3"],
  ]) {
    t.notOk(isListed(address), address);
  }
  // A list of IPv6 holds no IPv4 address, whatever it is written as.
  const wide = compileNetworks(["::/1"]);
  t.ok(wide("::1"));
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "::ffff:a01:203"]) t.notOk(wide(address), address);
  t.notOk(compileNetworks([])("127.0.0.1"));
  t.throws(() => compileNetworks(["10.0.0.1%a"]));
});
