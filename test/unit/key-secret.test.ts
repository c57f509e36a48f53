import t from "tap";
import { decodeSecret, generateSecret } from "../../src/key-secret.ts";

t.test("decodeSecret", (t) => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));
  const hex = bytes.toString("hex");
  const base64url = bytes.toString("base64url");
  const good: [string, Buffer, Buffer][] = [
    ["hexadecimal", Buffer.from(hex), bytes],
    ["hexadecimal, upper case", Buffer.from(hex.toUpperCase()), bytes],
    ["hexadecimal with a line end", Buffer.from(`${hex}\n`), bytes],
    ["hexadecimal with a DOS line end", Buffer.from(`${hex}\r\n`), bytes],
    ["an odd number of digits is text", Buffer.from(`${hex}0`), Buffer.from(`${hex}0`)],
    ["base64url", Buffer.from(base64url), bytes],
    ["base64url with line ends", Buffer.from(`${base64url}\n\n`), bytes],
    [
      "base64 with padding is text",
      Buffer.from(bytes.toString("base64")),
      Buffer.from(bytes.toString("base64")),
    ],
    [
      "base64url of another spelling is text",
      Buffer.from(`${base64url.slice(0, -1)}B`),
      Buffer.from(`${base64url.slice(0, -1)}B`),
    ],
    ["a passphrase", Buffer.from(`${"correct horse ".repeat(3)}\n`), Buffer.from("correct horse ".repeat(3))],
    ["a passphrase in another script", Buffer.from(`${"ключ".repeat(8)}\n`), Buffer.from("ключ".repeat(8))],
    ["binary", bytes, bytes],
    [
      "binary that ends in a line end",
      Buffer.concat([bytes.subarray(1), Buffer.from("\n")]),
      Buffer.concat([bytes.subarray(1), Buffer.from("\n")]),
    ],
    ["zeros", Buffer.alloc(32), Buffer.alloc(32)],
  ];
  for (const [name, file, secret] of good) t.same(decodeSecret(file), secret, name);

  const bad: [string, Buffer][] = [
    ["empty", Buffer.alloc(0)],
    ["line ends only", Buffer.from("\n".repeat(40))],
    ["31 bytes", Buffer.alloc(31, 0xff)],
    ["31 characters and a line end", Buffer.from(`${"p".repeat(31)}\n`)],
    ["16 bytes in 32 hexadecimal digits", Buffer.from(hex.slice(0, 32))],
    ["63 hexadecimal digits", Buffer.from(hex.slice(0, 63))],
  ];
  for (const [name, file] of bad) {
    try {
      decodeSecret(file);
      t.fail(name);
    } catch (error) {
      t.match((error as Error).message, /at least 32 bytes are needed/, name);
      t.notMatch((error as Error).message, /fffefd|pppp/);
    }
  }
  t.end();
});

t.test("decodeSecret returns bytes of its own", (t) => {
  const file = Buffer.alloc(32, 0xee);
  const secret = decodeSecret(file);
  file.fill(0);
  t.same(secret, Buffer.alloc(32, 0xee));
  t.end();
});

t.test("new secrets", (t) => {
  t.match(generateSecret(), /^[A-Za-z0-9_-]{43}$/);
  t.not(generateSecret(), generateSecret());
  t.same(decodeSecret(Buffer.from(`${generateSecret((n) => Buffer.alloc(n, 7))}\n`)), Buffer.alloc(32, 7));
  t.end();
});
