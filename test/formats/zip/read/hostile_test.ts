/** Zips with false or unsupported data: members are skipped, or errors when they are read; the others are read. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { FormatError } from "../../../../src/base/errors.ts";
import { open } from "../../../../src/open/open.ts";
import type { SkipReason } from "../../../../src/tree/format.ts";
import {
  extraField,
  type MadeMember,
  makeZip,
} from "../../../support/zip/make_zip.ts";
import { A as fileA, end, head } from "../../../support/zip/zip_records.ts";

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

/** Asserts that the zip is read without its last member, which is named. */
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

Deno.test("a valid zip is read", async () => {
  using fs = await open(makeZip([A, B]), { onWarning });
  assert.equal(fs.info.format, "zip");
  const texts = (await fs.read(["a.txt", "d/b.txt"]))
    .map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual(texts, ["hello", "deflated ".repeat(500)]);
});

/** Asserts that the zip is read, except for one file, whose error names it. */
async function unreadable(
  members: readonly MadeMember[],
  name: string,
  code: string,
  message: RegExp,
): Promise<void> {
  const warnings: string[] = [];
  using fs = await open(makeZip(members), {
    format: "zip",
    onWarning: (message) => void warnings.push(message),
  });
  assert.equal(fs.info.files, members.length);
  for (const read of [() => fs.read(name), () => fs.stream(name)]) {
    await assert.rejects(read(), (error) => {
      assert.ok(error instanceof FormatError, String(error));
      assert.deepEqual([error.code, error.member], [code, name]);
      assert.match(error.message, message);
      assert.deepEqual(warnings, [error.message]);
      return true;
    });
  }
  assert.throws(() => fs.readRangeSync(name, 0, 1), { member: name });
  assert.equal(fs.info.facts?.["unreadable"], 1);
  assert.deepEqual(fs.info.unreadable?.map(({ name, code }) => [name, code]), [
    [name, code],
  ]);
  assert.deepEqual(fs.skipped, []);
  const others = members.filter((member) => member.name !== name);
  for (const { name, data = "" } of others) {
    const bytes = await fs.read(name as string);
    assert.equal(new TextDecoder().decode(bytes), data);
  }
}

Deno.test("unreadable members are listed, and reading them reports the error by name", async () => {
  const cases: [MadeMember, RegExp][] = [
    [{ ...A, flags: 1 }, /'a.txt' in .*: it is encrypted/],
    [{ ...A, flags: 1 << 6 | 1 }, /'a.txt' .* is encrypted/],
    [{ ...A, flags: 1 << 5 }, /'a.txt' .* is a patch/],
    [{ ...A, method: 9 }, /'a.txt' .* is compressed by Deflate64/],
    [{ ...A, method: 12 }, /'a.txt' .* is compressed by bzip2/],
    [{ ...A, method: 14 }, /'a.txt' .* is compressed by LZMA/],
    [{ ...A, method: 98 }, /'a.txt' .* is compressed by PPMd/],
    [{ ...A, method: 99 }, /'a.txt' .* is compressed by AES/],
    [{ ...A, method: 777 }, /'a.txt' .* is compressed by method 777/],
    [{ ...A, method: 93, central: { size: 2 ** 31 } }, /'a.txt' .* zstd/],
  ];
  for (const [member, message] of cases) {
    await unreadable([B, member], "a.txt", "unreadable-member", message);
    await unreadable([member, B], "a.txt", "unreadable-member", message);
  }
  using fs = await open(makeZip([{ ...A, method: 12 }]), { onWarning() {} });
  assert.equal((await fs.stat("a.txt")).size, 5);
  await refusedOpen(
    makeZip([A], { disk: 2 }),
    "unsupported",
    /3 parts of a zip/,
  );
});

Deno.test("paths that lead out, and invalid ones, are skipped by name", async () => {
  for (const name of ["../up", "a/../../up", "a\0b", ".."]) {
    await skipped([A, { name }], "unsafe-name");
  }
  for (const name of ["", "."]) await skipped([A, { name }], "no-name");
  await skipped([A, { name: "x".repeat(2000) }], "too-long");
});

Deno.test("removes a leading slash, and reports it once", async () => {
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
    /leading '\/' is removed from the names of 2 members/,
  );
});

Deno.test("if a file and a directory have one path, the later one is skipped", async () => {
  const cases = [
    [A, { name: "a.txt/b" }],
    [A, { name: "a.txt/" }],
    [{ name: "d/b" }, { name: "d" }],
  ];
  for (const members of cases) {
    await skipped(members, "conflict");
  }
});

/** Returns a zip64 field of this length. */
function zip64(length: number, byte = 0): Uint8Array {
  return extraField(1, new Uint8Array(length).fill(byte));
}

Deno.test("members with false entries in the central directory are not read, and the others are", async () => {
  const central = (fields: MadeMember["central"]) => ({
    ...B,
    central: fields!,
  });
  const cases: [MadeMember, RegExp][] = [
    [central({ offset: 10_000 }), /'d\/b.txt' .* is out of bounds/],
    [central({ packed: 10_000 }), /it is out of bounds/],
    [central({ size: 0xffff_fff0 }), /more than its \d+ can inflate to/],
    [
      { ...A, name: "d/b.txt", central: { size: 6 } },
      /is stored, but has 6 bytes in 5/,
    ],
    // In zip64 fields that are truncated, or larger than any size.
    [central({ size: 0xffff_ffff, extra: zip64(4) }), /has no valid size/],
    [central({ packed: 0xffff_ffff, extra: zip64(4) }), /has no valid size/],
    [
      central({ size: 0xffff_ffff, extra: zip64(8, 0xff) }),
      /has no valid size/,
    ],
    [central({ offset: 0xffff_ffff, extra: zip64(4) }), /has no valid offset/],
  ];
  for (const [member, message] of cases) {
    await unreadable([A, member], "d/b.txt", "bad-structure", message);
  }
});

Deno.test("a central directory in which members cannot be found is rejected", async () => {
  const cases: [Uint8Array, RegExp][] = [
    [makeZip([A, B], { count: 3 }), /counts 3 members/],
    [makeZip([A, B], { count: 1 }), /continues for 53 bytes/],
    [makeZip([A, B], { count: 5000 }), /counts 5000 members/],
    [makeZip([A, B], { length: 1 << 30 }), /do not fit before it/],
    [makeZip([A, B], { offset: 1 << 20 }), /do not fit before it/],
    [
      makeZip([A, B], { length: 100 }),
      /no header of a member where its end record says/,
    ],
    [makeZip([A, B]).subarray(0, -30), /no end record/],
  ];
  for (const [zip, message] of cases) {
    const code = /no end record/.test(message.source)
      ? "truncated"
      : "bad-structure";
    await refusedOpen(zip, code, message);
  }
});

Deno.test("overlapping members are not read, and the others are", async () => {
  const long: MadeMember = { name: "long", data: "stored ".repeat(100) };
  for (const offset of [0, 20]) {
    const members = [A, { ...B, central: { offset } }, long];
    using fs = await open(makeZip(members), { onWarning() {} });
    for (const name of ["a.txt", "d/b.txt"]) {
      await assert.rejects(fs.read(name), {
        code: "bad-structure",
        member: name,
        message: /overlaps another member/,
      });
    }
    const bytes = await fs.read("long");
    assert.equal(new TextDecoder().decode(bytes), long.data);
  }
});

Deno.test("many members that share one content cannot fill a disk", async () => {
  // As in "A better zip bomb" (David Fifield, 2019).
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
  using fs = await open(makeZip([bomb, ...members]), { onWarning() {} });
  assert.equal(fs.info.facts?.["unreadable"], 50); // the first one is replaced by one of the same name
  for (const name of await fs.list("")) {
    await assert.rejects(fs.read(name), { message: /overlaps another member/ });
  }
});

Deno.test("headers that disagree are rejected by name when the content is read", async () => {
  const cases: [MadeMember["local"], RegExp][] = [
    [{ name: "z.txt" }, /disagree on its path/],
    [{ name: "aa.txt" }, /disagree on its path/],
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
    await fs.read("d/b.txt"); // the other member is unaffected
  }
});

Deno.test("contents that differ from their headers are rejected by name", async () => {
  const text = B.data as string;
  const wrong = { crc: 5 };
  const sizes = [text.length + 1, text.length - 1, 1];
  const members: [MadeMember, RegExp][] = [
    [
      { ...B, central: wrong, local: wrong },
      /read 'd\/b.txt' of .*: checksum mismatch/,
    ],
    [
      { ...A, name: "d/b.txt", central: wrong, local: wrong },
      /read 'd\/b.txt' of .*: checksum mismatch/,
    ],
    ...sizes.map((size): [MadeMember, RegExp] => [
      { ...B, central: { size }, local: { size } },
      /'d\/b.txt' in .*: it has (more than its \d+ bytes|\d+ bytes, not \d+)/,
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
  zip.fill(0xff, 45, 55); // in the middle of the deflated data
  using fs = await open(zip, { onWarning });
  await assert.rejects(
    fs.read("d/b.txt"),
    /'d\/b.txt' in .*: it can't be decompressed/,
  );
});

Deno.test("zstd is read", async () => {
  using fs = await open(makeZip([{ ...B, method: 93 }]), { onWarning });
  const bytes = await fs.read("d/b.txt");
  assert.equal(new TextDecoder().decode(bytes), B.data);
});

Deno.test("the end is found despite long comments, and data before and after it", async () => {
  const zips = [
    makeZip([A], { comment: Buffer.from("PK\x05") }),
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

Deno.test("a zip64 field that is truncated, or not a number, is rejected with a readable message", async () => {
  const numbers = [Buffer.alloc(15), Buffer.alloc(16, 0xff)];
  for (const number of numbers) {
    const extra = Buffer.concat([
      Buffer.from([1, 0, number.length, 0]),
      number,
    ]);
    const header = head("a", 0, extra);
    header.fill(0xff, 20, 28); // both sizes are in the zip64 field
    header.writeUInt16LE(extra.length, 30);
    header.writeUInt16LE(0, 32); // no comment
    const zip = Buffer.concat([
      ...[fileA, header, end(1, header.length, fileA.length)],
    ]);
    await refusedOpen(
      zip,
      "bad-structure",
      /^[^]*'a' in .*: its zip64 field is truncated(?!.*NaN)/,
    );
  }
});

Deno.test("of several damaged contents the first one is reported, however they are read", async () => {
  const wrong = { crc: 5 };
  const zip = makeZip([
    { ...B, name: "first", central: wrong, local: wrong },
    { ...A, name: "second", central: wrong, local: wrong },
  ]);
  using fs = await open(zip, { onWarning });
  const names = ["second", "first"];
  const first = /read 'second' of .*: checksum mismatch/; // it is stored, and read before compressed members
  await assert.rejects(fs.read(names), first);
  assert.throws(() => fs.readSync(names), first);
  const damaged = makeZip([{ ...B, name: "first" }, { ...B, name: "second" }]);
  for (const at of [50, 50 + damaged.indexOf("PK", 10)]) {
    damaged.fill(0xff, at, at + 5);
  }
  using both = await open(damaged, { onWarning });
  await assert.rejects(
    both.read(names),
    /'first' in .*: it can't be decompressed/,
  );
  assert.throws(
    () => both.readSync(names),
    /'first' in .*: it can't be decompressed/,
  );
});
