/** Zips that lie, and such as have what is not supported: each is refused by name, or its content is. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { FormatError } from "../../../../src/errors.ts";
import { open, type SkipReason } from "../../../../src/vfs/mod.ts";
import { type MadeMember, makeZip } from "../../../support/zip/make_zip.ts";

const A: MadeMember = { name: "a.txt", data: "hello" };
const B: MadeMember = {
  name: "d/b.txt",
  data: "deflated ".repeat(500),
  method: 8,
};

const onWarning = (message: string) => assert.fail(message);

async function refusedOpen(
  zip: Uint8Array,
  code: string,
  message: RegExp,
): Promise<void> {
  await assert.rejects(open(zip, { format: "zip", onWarning }), (error) => {
    assert.ok(error instanceof FormatError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

/** The zip is read without its last member, which is named. */
async function skipped(
  members: readonly MadeMember[],
  reason: SkipReason,
): Promise<void> {
  const warnings: string[] = [];
  using fs = await open(makeZip(members), {
    format: "zip",
    onWarning: (message) => void warnings.push(message),
  });
  const { name } = members.at(-1)!;
  assert.deepEqual(
    fs.skipped.map(({ name, reason }) => ({ name, reason })),
    [{ name, reason }],
  );
  assert.equal(fs.info.facts?.["skipped"], 1);
  assert.deepEqual(warnings, fs.skipped.map(({ message }) => message));
  assert.equal(fs.info.files, members.length - 1);
}

Deno.test("what is right is read", async () => {
  using fs = await open(makeZip([A, B]), { onWarning });
  assert.equal(fs.info.format, "zip");
  const texts = (await fs.read(["a.txt", "d/b.txt"]))
    .map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual(texts, ["hello", "deflated ".repeat(500)]);
});

Deno.test("members that can't be read are refused by name", async () => {
  const cases: [MadeMember, RegExp][] = [
    [{ ...A, flags: 1 }, /'a.txt' is encrypted/],
    [{ ...A, flags: 1 << 6 | 1 }, /'a.txt' is encrypted/],
    [{ ...A, method: 12 }, /'a.txt' is written by bzip2/],
    [{ ...A, method: 14 }, /'a.txt' is written by LZMA/],
    [{ ...A, method: 99 }, /'a.txt' is written by AES/],
    [{ ...A, method: 77 }, /'a.txt' is written by method 77/],
    [{ ...A, method: 93, central: { size: 2 ** 31 } }, /'a.txt' .* zstd/],
  ];
  for (const [member, message] of cases) {
    await refusedOpen(makeZip([B, member]), "unsupported", message);
  }
  await refusedOpen(
    makeZip([A], { disk: 2 }),
    "unsupported",
    /3 parts of a zip/,
  );
});

Deno.test("paths that lead out, and such as are none, are skipped by name", async () => {
  for (const name of ["../up", "a/../../up", "a\0b", ".."]) {
    await skipped([A, { name }], "unsafe-name");
  }
  for (const name of ["", "."]) await skipped([A, { name }], "no-name");
  await skipped([A, { name: "x".repeat(2000) }], "too-long");
});

Deno.test("takes a leading slash off, and says it once", async () => {
  const warnings: string[] = [];
  using fs = await open(
    makeZip([A, { name: "/etc/passwd" }, { name: "//b" }]),
    {
      format: "zip",
      onWarning: (message) => void warnings.push(message),
    },
  );
  assert.deepEqual(await fs.list(""), ["a.txt", "etc", "b"]);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]!,
    /leading '\/' is taken off the names of 2 members/,
  );
});

Deno.test("of a file and a directory of one path, the later is skipped", async () => {
  const cases = [
    [A, { name: "a.txt/b" }],
    [A, { name: "a.txt/" }],
    [{ name: "d/b" }, { name: "d" }],
  ];
  for (const members of cases) {
    await skipped(members, "conflict");
  }
});

Deno.test("a central directory that lies of places and sizes is refused", async () => {
  const central = (fields: MadeMember["central"]) => ({
    ...B,
    central: fields!,
  });
  const cases: [Uint8Array, RegExp][] = [
    [makeZip([A, central({ offset: 0 })]), /lie in one another/],
    [makeZip([A, central({ offset: 20 })]), /lie in one another/],
    [
      makeZip([A, central({ offset: 10_000 })]),
      /'d\/b.txt' has .* the directory lies/,
    ],
    [makeZip([A, central({ packed: 10_000 })]), /the directory lies/],
    [
      makeZip([A, central({ size: 0xffff_fff0 })]),
      /more than its \d+ can be inflated to/,
    ],
    [
      makeZip([{ ...A, central: { size: 6 } }]),
      /is stored, and has 6 bytes in 5/,
    ],
    [makeZip([A, B], { count: 3 }), /has 3 members by its end/],
    [makeZip([A, B], { count: 1 }), /goes on for 53 bytes/],
    [makeZip([A, B], { count: 5000 }), /has 5000 members by its end/],
    [makeZip([A, B], { length: 1 << 30 }), /do not fit before that/],
    [makeZip([A, B], { offset: 1 << 20 }), /do not fit before that/],
    [
      makeZip([A, B], { length: 100 }),
      /no header of a member where its end says/,
    ],
    [makeZip([A, B]).subarray(0, -30), /no record of the end/],
  ];
  for (const [zip, message] of cases) {
    const code = /no record/.test(message.source)
      ? "truncated"
      : "bad-structure";
    await refusedOpen(zip, code, message);
  }
});

Deno.test("many members that share one content are no way to fill disks", async () => {
  // As "a better zip bomb" (David Fifield, 2019) has it.
  const bomb = { ...B, name: "0" };
  const members = Array.from({ length: 50 }, (_, i): MadeMember => ({
    name: String(i),
    central: {
      offset: 0,
      crc: zlib.crc32(Buffer.from(B.data as string)),
      method: 8,
      packed: zlib.deflateRawSync(Buffer.from(B.data as string)).length,
      size: (B.data as string).length,
    },
  }));
  await refusedOpen(
    makeZip([bomb, ...members]),
    "bad-structure",
    /lie in one another/,
  );
});

Deno.test("headers that disagree are refused by name when the content is wanted", async () => {
  const cases: [MadeMember["local"], RegExp][] = [
    [{ name: "z.txt" }, /says something else of its path/],
    [{ name: "aa.txt" }, /says something else of its path/],
    [{ method: 8 }, /how it is written/],
    [{ flags: 1 }, /whether it is encrypted/],
    [{ crc: 1 }, /its CRC-32/],
    [{ size: 4 }, /its size/],
    [{ packed: 4 }, /its size/],
  ];
  for (const [local, message] of cases) {
    using fs = await open(makeZip([{ ...A, local: local! }, B]), { onWarning });
    await assert.rejects(fs.read("a.txt"), (error) => {
      assert.ok(error instanceof FormatError);
      assert.match(error.message, /'a.txt'/);
      assert.match(error.message, message);
      return true;
    });
    await fs.read("d/b.txt"); // others are as they were
  }
});

Deno.test("contents that are not what is said are refused by name", async () => {
  const text = B.data as string;
  const wrong = { crc: 5 };
  const sizes = [text.length + 1, text.length - 1, 1];
  const members: [MadeMember, RegExp][] = [
    [{ ...B, central: wrong, local: wrong }, /checksum mismatch in 'd\/b.txt'/],
    [
      { ...A, name: "d/b.txt", central: wrong, local: wrong },
      /checksum mismatch in 'd\/b.txt'/,
    ],
    ...sizes.map((size): [MadeMember, RegExp] => [
      { ...B, central: { size }, local: { size } },
      /'d\/b.txt' has (more than its \d+ bytes|\d+ bytes and not \d+)/,
    ]),
    [
      { ...B, method: 93, central: { size: 3 }, local: { size: 3 } },
      /has more than its 3 bytes/,
    ],
  ];
  for (const [member, message] of members) {
    using fs = await open(makeZip([member, A]), { onWarning });
    await assert.rejects(fs.read("d/b.txt"), (error) => {
      assert.ok(error instanceof FormatError, String(error));
      assert.match(error.message, message);
      return true;
    });
    await fs.read("a.txt");
  }
  const zip = makeZip([B, A]);
  zip.fill(0xff, 45, 55); // in the middle of what was deflated
  using fs = await open(zip, { onWarning });
  await assert.rejects(fs.read("d/b.txt"), /'d\/b.txt' can't be decompressed/);
});

Deno.test("zstd is read", async () => {
  using fs = await open(makeZip([{ ...B, method: 93 }]), { onWarning });
  const bytes = await fs.read("d/b.txt");
  assert.equal(new TextDecoder().decode(bytes), B.data);
});

Deno.test("the end is found in spite of comments that look like one, and of what follows it", async () => {
  const fake = makeZip([{ name: "fake" }]).subarray(-22);
  const zips = [
    makeZip([A], { comment: fake }),
    makeZip([A], { comment: Buffer.alloc(0xffff, 0x50) }),
    Buffer.concat([makeZip([A]), Buffer.from("\nfollows\n")]),
    Buffer.concat([Buffer.alloc(5000, 1), makeZip([A])]),
    makeZip([A], { between: Buffer.from("signatures may stand here") }),
  ];
  for (const zip of zips) {
    using fs = await open(zip, { onWarning });
    assert.deepEqual(await fs.list(""), ["a.txt"]);
    assert.equal(new TextDecoder().decode(await fs.read("a.txt")), "hello");
  }
  using empty = await open(makeZip([]), { onWarning });
  assert.deepEqual(await empty.list(""), []);
});

Deno.test("links and devices are skipped, and said", async () => {
  const warnings: string[] = [];
  const members = [
    A,
    { name: "link", data: "a.txt", mode: 0o120777 },
    { name: "pipe", mode: 0o010644 },
  ];
  using fs = await open(makeZip(members), {
    onWarning: (message) => warnings.push(message),
  });
  assert.deepEqual(await fs.list(""), ["a.txt"]);
  assert.match(
    warnings.join("\n"),
    /'link' is skipped: it is a symbolic link\n.*'pipe' is skipped/,
  );
});

Deno.test("of several contents that are damaged the first one is told, whichever way they are read", async () => {
  const wrong = { crc: 5 };
  const zip = makeZip([
    { ...B, name: "first", central: wrong, local: wrong },
    { ...A, name: "second", central: wrong, local: wrong },
  ]);
  using fs = await open(zip, { onWarning });
  const names = ["second", "first"];
  const first = /checksum mismatch in 'second'/; // it lies in the zip, which is read before what is decompressed
  await assert.rejects(fs.read(names), first);
  assert.throws(() => fs.readSync(names), first);
  const damaged = makeZip([{ ...B, name: "first" }, { ...B, name: "second" }]);
  for (const at of [50, 50 + damaged.indexOf("PK", 10)]) {
    damaged.fill(0xff, at, at + 5);
  }
  using both = await open(damaged, { onWarning });
  await assert.rejects(both.read(names), /'first' can't be decompressed/);
  assert.throws(() => both.readSync(names), /'first' can't be decompressed/);
});
