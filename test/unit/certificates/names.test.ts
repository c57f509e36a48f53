import t from "tap";
import { childrenOf, DerError, readDer, readOid } from "../../../src/certificates/der.ts";
import {
  commonNames,
  organizationalUnits,
  printName,
  readName,
  readSubjectAltNames,
} from "../../../src/certificates/names.ts";

/** A DER value; lengths in the shortest form. */
function der(tag: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const contents = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const { length } = contents;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), contents]);
}

const OIDS = { cn: "550403", ou: "55040b", o: "55040a", c: "550406", email: "2a864886f70d010901" } as const;
const attribute = (type: keyof typeof OIDS, value: string | Buffer, tag = 0x0c): Buffer =>
  der(0x30, der(0x06, Buffer.from(OIDS[type], "hex")), der(tag, value));
const name = (...sets: readonly (readonly Buffer[])[]) =>
  readName(readDer(der(0x30, ...sets.map((attributes) => der(0x31, ...attributes)))));
const altNames = (...names: readonly Buffer[]) => readSubjectAltNames(readDer(der(0x30, ...names)));
const [EMAIL, DNS, URI] = [0x81, 0x82, 0x86];

t.test("alternative names, by kind and byte for byte", async (t) => {
  t.same(
    altNames(
      der(URI, "spiffe://td/a"),
      der(DNS, "A.example"),
      der(EMAIL, "a@b.c"),
      der(0x87, "\x7f\0\0\x01"),
    ),
    {
      ...{ uri: ["spiffe://td/a"], dns: ["A.example"], email: ["a@b.c"] },
    },
  );
  // What text forms have been read as two names (CVE-2021-44532) is one here, and fits no pattern of the other.
  t.same(altNames(der(DNS, "good.example,DNS:evil.example")).dns, ["good.example,DNS:evil.example"]);
  t.same(altNames(der(URI, 'http://a/","DNS:b')).uri, ['http://a/","DNS:b']);
  for (const bad of ["a\0b", "a b", "a\nDNS:b", "", "\x7f", "é", "a".repeat(2_049)]) {
    for (const tag of [URI, DNS, EMAIL])
      t.throws(() => altNames(der(tag, bad)), DerError, JSON.stringify(bad));
    t.throws(() => altNames(der(URI, "spiffe://td/a"), der(DNS, bad)), DerError, "nor beside a good one");
  }
  t.throws(() => altNames(), DerError);
  t.throws(() => altNames(...Array(257).fill(der(DNS, "a"))), DerError);
});

t.test("a subject as text: one spelling for one name", async (t) => {
  const cases: readonly (readonly [string | undefined, ReturnType<typeof name>])[] = [
    [
      "CN=a,OU=b,O=c,C=de",
      name(
        [attribute("c", "de", 0x13)],
        [attribute("o", "c")],
        [attribute("ou", "b")],
        [attribute("cn", "a")],
      ),
    ],
    ["CN=a+OU=b", name([attribute("cn", "a"), attribute("ou", "b")])],
    // CVE-2021-44533: what looks like more names stays one value.
    ['CN=a\\,O=b\\+C=c\\\\\\"\\;\\<\\>', name([attribute("cn", 'a,O=b+C=c\\";<>')])],
    ["CN=\\ a \\ ", name([attribute("cn", " a  ")])],
    ["CN=\\ ", name([attribute("cn", " ")])],
    ["CN=\\#a#", name([attribute("cn", "#a#")])],
    ["1.2.840.113549.1.9.1=#1603614062", name([attribute("email", "a@b", 0x16)])],
    ["CN=ä", name([attribute("cn", "ä")])],
    [undefined, name()],
    [undefined, name([attribute("cn", "a\0b")])],
    [undefined, name([attribute("cn", "a\nO=b")])],
    [undefined, name([attribute("cn", "")])],
    [undefined, name([attribute("cn", Buffer.from([0xc3, 0x28]))])],
    [undefined, name([attribute("cn", "ä", 0x13)])],
    // BMPString and T61String are read in more than one way.
    [undefined, name([attribute("cn", Buffer.from("\0a\0b"), 0x1e)])],
    [undefined, name([attribute("cn", "a", 0x14)])],
  ];
  for (const [text, given] of cases) t.equal(printName(given), text);
});

t.test("attributes of one type", async (t) => {
  const both = name([attribute("cn", "a")], [attribute("cn", "b"), attribute("ou", "c")]);
  t.same(commonNames(both), ["a", "b"]);
  t.same(organizationalUnits(both), ["c"]);
  t.same(organizationalUnits(name([attribute("cn", "a")])), []);
  const unreadable = name([attribute("ou", "a")], [attribute("ou", "b\0")]);
  t.equal(organizationalUnits(unreadable), undefined, "one that cannot be read makes all of them unreadable");
});

t.test("DER that is read in one way only", async (t) => {
  for (const [what, hex] of Object.entries({
    "an indefinite length": "3080020101" + "0000",
    "an overlong length": "308103020101",
    "a length with a leading zero": "30820003020101",
    "a value that is cut off": "3004020101",
    "bytes behind it": "300302010100",
    "a long tag": "1f8101010a",
    nothing: "",
    "a tag alone": "30",
  })) {
    t.throws(() => readDer(Buffer.from(hex, "hex")), DerError, what);
  }
  t.equal(childrenOf(readDer(Buffer.from("3003020101", "hex"))).length, 1);
  t.throws(() => childrenOf(readDer(Buffer.from("020101", "hex"))), DerError, "a number has no parts");
  const oid = (hex: string) => readOid(readDer(Buffer.from(hex, "hex")));
  t.equal(oid("0603550403"), "2.5.4.3");
  t.equal(oid("06092a864886f70d010901"), "1.2.840.113549.1.9.1");
  for (const hex of ["0600", "060281", "06038055" + "04", "060255ff"])
    t.throws(() => oid(hex), DerError, hex);
});
