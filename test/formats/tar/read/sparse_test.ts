/** Sparse files: GNU's old format, its extended headers of versions 0.0, 0.1 and 1.0, and those of bsdtar. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import fc from "fast-check";
import { open } from "../../../../src/open/open.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { serving } from "../../../support/remote/serving.ts";
import {
  type Member,
  memberBytes,
  pax,
  tarBytes,
} from "../../../support/tar/make_tar.ts";
import { openWeb } from "../../../support/tar/open_web.ts";

const WAYS = {
  "tar --format=gnu": ["tar", "--format=gnu"],
  "tar --sparse-version=0.0": ["tar", "--format=posix", "--sparse-version=0.0"],
  "tar --sparse-version=0.1": ["tar", "--format=posix", "--sparse-version=0.1"],
  "tar --sparse-version=1.0": ["tar", "--format=posix", "--sparse-version=1.0"],
  "bsdtar": ["bsdtar", "--format=pax"],
};

/** Makes files with holes at the start, in between and at the end, only a hole, and more pieces than fit a header. */
function makeFiles(dir: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const make = (name: string, size: number, pieces: [number, string][]) => {
    const fd = fs.openSync(`${dir}/${name}`, "w");
    const bytes = Buffer.alloc(size);
    for (const [offset, text] of pieces) {
      fs.writeSync(fd, Buffer.from(text), 0, text.length, offset);
      bytes.write(text, offset);
    }
    fs.ftruncateSync(fd, size);
    fs.closeSync(fd);
    files.set(name, bytes);
  };
  make("s.middle", 1_000_000, [[100_000, "a".repeat(5000)], [700_001, "b"]]);
  make("s.end", 300_007, [[0, "c".repeat(5000)]]);
  make("s.hole", 200_000, []);
  const many = Array.from({ length: 60 }, (_, i): [number, string] => [
    i * 16_384,
    String(i).repeat(100),
  ]);
  make("s.many", 60 * 16_384 + 7, many);
  make("s.plain", 5, [[0, "plain"]]);
  return files;
}

for (const [name, [program, ...args]] of Object.entries(WAYS)) {
  Deno.test({
    name: `files with holes are restored: ${name}`,
    ...needs(program!),
    fn: () =>
      withTempDir(async (dir) => {
        const files = makeFiles(dir);
        const sparse = program === "tar" ? ["-S"] : [];
        const tar = `${dir}/t.tar`;
        const packed = [...args, ...sparse, "-cf", tar, "-C", dir];
        await output(program!, ...packed, ...files.keys());
        assert.ok(fs.statSync(tar).size < 600_000); // the holes are not stored
        using container = await open(tar);
        assert.deepEqual(await container.list(""), [...files.keys()]);
        assert.equal(container.info.unreadable, undefined);
        const read = await container.read([...files.keys()]);
        for (const [i, [name, bytes]] of [...files].entries()) {
          assert.ok(bytes.equals(read[i]!), name);
          assert.equal((await container.stat(name)).size, bytes.length);
        }
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...files.keys()),
            fc.nat(1_000_000),
            fc.nat(70_000),
            async (name, offset, length) => {
              const part = await container.readRange(name, offset, length);
              const bytes = files.get(name)!;
              const right = bytes.subarray(offset, offset + length);
              assert.ok(right.equals(part), `${name} ${offset} ${length}`);
            },
          ),
          { numRuns: 60 },
        );
        using samples = await openWeb(tar);
        const { __key__, ...parts } = await samples.read(0);
        assert.equal(__key__, "s");
        assert.equal(Object.keys(parts).length, files.size);
        for (const [extension, bytes] of Object.entries(parts)) {
          assert.ok(files.get(`s.${extension}`)!.equals(bytes as Uint8Array));
        }
      }),
  });
}

/** Returns a header in GNU's old format. */
function oldSparse(
  map: readonly (readonly [number, number])[],
  size: number,
  data: string,
): Uint8Array {
  const bytes = memberBytes({ name: "s", type: "S", data, magic: "ustar  \0" });
  const header = Buffer.from(bytes);
  const octal = (value: number) => `${value.toString(8).padStart(11, "0")}\0`;
  for (const [i, [offset, length]] of map.entries()) {
    header.write(octal(offset), 386 + 24 * i, "latin1");
    header.write(octal(length), 386 + 24 * i + 12, "latin1");
  }
  header.write(octal(size), 483, "latin1");
  header.fill(" ", 148, 156);
  const sum = header.subarray(0, 512).reduce((sum, byte) => sum + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

const BEHIND = { name: "behind", data: "1" };

async function opened(parts: readonly (Uint8Array | Member)[]) {
  const bytes = parts.map((part) =>
    part instanceof Uint8Array ? part : memberBytes(part)
  );
  const tar = new Uint8Array(Buffer.concat([...bytes, Buffer.alloc(1024)]));
  const container = await open(new File([tar], "t.tar"), { onWarning() {} });
  assert.equal(
    new TextDecoder().decode(await container.read("behind")),
    "1",
  );
  return container;
}

Deno.test("the old header's pieces are at their stated offsets", async () => {
  using container = await opened([
    oldSparse([[2, 3], [8, 2], [12, 0]], 12, "abcde"),
    BEHIND,
  ]);
  const bytes = await container.read("s");
  assert.equal(Buffer.from(bytes).toString(), "\0\0abc\0\0\0de\0\0");
});

Deno.test("a false map makes only its own file unreadable", async () => {
  const maps: [[number, number][], number][] = [
    [[[4, 3], [2, 2]], 12], // not ascending
    [[[0, 3], [2, 2]], 12], // overlaps
    [[[0, 3], [11, 2]], 12], // ends after the file
    [[[0, 3]], 12], // leaves data unused
    [[[0, 600]], 700], // needs more data than stored
  ];
  for (const [map, size] of maps) {
    using container = await opened([oldSparse(map, size, "abcde"), BEHIND]);
    await assert.rejects(async () => await container.read("s"), {
      code: "bad-structure",
      member: "s",
    });
    assert.equal((await container.stat("s")).size, size);
  }
  const text = (data: string, more: Record<string, string> = {}) => [
    pax({
      "GNU.sparse.major": "1",
      "GNU.sparse.minor": "0",
      "GNU.sparse.name": "s",
      "GNU.sparse.realsize": "12",
      ...more,
    }),
    { name: "GNUSparseFile.0/s", data: data.padEnd(512, "\0") + "abc" },
    BEHIND,
  ];
  {
    using container = await opened(text("1\n2\n3\n"));
    const bytes = await container.read("s");
    assert.equal(Buffer.from(bytes).toString(), "\0\0abc".padEnd(12, "\0"));
  }
  const lies = ["", "x", "1\n2\n", "1\n2\nx\n", "99999999\n", "1\n9\n9\n"];
  for (const data of [...lies, "1".repeat(20) + "\n", "2\n5\n3\n1\n0\n"]) {
    using container = await opened(text(data));
    await assert.rejects(async () => await container.read("s"), {
      code: "bad-structure",
      member: "s",
    });
    assert.equal((await container.stat("s")).size, 12);
  }
});

Deno.test("a file with holes that was truncated after its map is listed, and cannot be read", async () => {
  const header = Buffer.from(
    oldSparse([[2, 3], [9, 600]], 700, "x".repeat(603)),
  );
  header[482] = 1; // the map continues in a block after the header
  const sum = Buffer.from(header.subarray(0, 512)).fill(" ", 148, 156)
    .reduce((sum, byte) => sum + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const tar = Buffer.concat([
    header.subarray(0, 512),
    Buffer.alloc(512),
    header.subarray(512, 512 + 600),
  ]);
  using container = await open(new File([new Uint8Array(tar)], "t.tar"), {
    onWarning() {},
  });
  const [unreadable] = container.info.unreadable!;
  assert.deepEqual([unreadable!.name, unreadable!.code], [
    "s",
    "truncated-data",
  ]);
});

Deno.test("unsupported formats of holes are named", async () => {
  const others: Member[][] = [
    [{ name: "s", type: "S", data: "abc" }], // written by star, without the magic of GNU
    [pax({ "SCHILY.realsize": "12" }), { name: "s", data: "abc" }],
    [pax({ "SUN.holesdata": " 0 3 12" }), { name: "s", data: "abc" }],
    [pax({ "GNU.sparse.major": "2" }), { name: "s", data: "abc" }],
  ];
  for (const members of others) {
    using container = await opened([...members, BEHIND]);
    await assert.rejects(async () => await container.read("s"), {
      code: "unreadable-member",
      member: "s",
      message: /holes .* unsupported/,
    });
  }
});

Deno.test("a file with a hole of a terabyte costs only what is read from it", async () => {
  const size = 2 ** 40;
  using container = await opened([oldSparse([[5, 3]], 0, "abc"), BEHIND]);
  assert.equal((await container.stat("s")).size, 0);
  const records = { "GNU.sparse.size": String(size), "GNU.sparse.map": "7,3" };
  using large = await opened([
    pax({ ...records, "GNU.sparse.name": "s" }),
    { name: "x", data: "abc" },
    BEHIND,
  ]);
  assert.equal((await large.stat("s")).size, size);
  const part = await large.readRange("s", 5, 6);
  assert.equal(Buffer.from(part).toString(), "\0\0abc\0");
  const end = await large.readRange("s", size - 4, 10);
  assert.deepEqual([...end], [0, 0, 0, 0]);
  const refused = { code: "too-large", message: /'s' .*Read it in parts/ };
  await assert.rejects(async () => await large.read("s"), refused);
  await assert.rejects(async () => await large.read(["behind", "s"]), refused);
});

Deno.test("holes in one batch are bounded, however many files they are in", async () => {
  const members = Array.from({ length: 10 }, (_, i) => [
    pax({
      "GNU.sparse.size": String(32 << 20),
      "GNU.sparse.map": "7,3",
      "GNU.sparse.name": `${i}`,
    }),
    { name: "x", data: "abc" },
  ]);
  using container = await opened([...members.flat(), BEHIND]);
  const names = (await container.list("")).filter((name) => name !== "behind");
  await assert.rejects(async () => await container.read(names), {
    code: "too-large",
    message: /a batch may have/,
  });
  const [bytes] = await container.read(names.slice(0, 1));
  assert.equal(bytes!.length, 32 << 20);
  assert.equal(Buffer.from(bytes!.subarray(5, 12)).toString(), "\0\0abc\0\0");
});

Deno.test("files with holes are read from a server, and through a cache", () =>
  serving(async ({ dir, server, remote }) => {
    const tar = Buffer.concat([
      oldSparse([[2, 3], [8, 2]], 12, "abcde"),
      tarBytes([BEHIND]),
    ]);
    fs.writeFileSync(`${dir}/t.tar`, tar);
    for (let i = 0; i < 2; i++) {
      using container = await open(`${server.url}/t.tar`, { remote });
      const [sparse, behind] = await container.read(["s", "behind"]);
      assert.equal(Buffer.from(sparse!).toString(), "\0\0abc\0\0\0de\0\0");
      assert.equal(Buffer.from(behind!).toString(), "1");
    }
  }));
