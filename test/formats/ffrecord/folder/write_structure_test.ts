import assert from "node:assert/strict";
import {
  PackListing,
  requireRoom,
} from "../../../../src/formats/ffrecord/pack/pack_listing.ts";
import {
  buildNameTable,
  readStructure,
  type Structure,
} from "../../../../src/formats/ffrecord/folder/structure.ts";
import { writeStructure } from "../../../../src/formats/ffrecord/folder/write_structure.ts";
import { decodeName } from "../../../../src/base/names.ts";
import type { NameTable } from "../../../../src/tree/names/name_table.ts";
import { ROOT } from "../../../../src/tree/tree.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

function sampleOf(listing: PackListing, firstSample = 0): Uint8Array {
  const pieces = [...writeStructure(listing, firstSample)];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const sample = new Uint8Array(new SharedArrayBuffer(length));
  let at = 0;
  for (const piece of pieces) {
    assert.ok(piece.length < 100_000, "a piece is short");
    sample.set(piece, at);
    at += piece.length;
  }
  return sample;
}

function structureOf(listing: PackListing): Structure {
  return readStructure(sampleOf(listing), "x.ffr", listing.files);
}

/** Returns the paths of files with their indices, and of folders. */
function entriesOf(names: NameTable): Map<string, number> {
  const entries = new Map<string, number>();
  const folders = [{ node: ROOT, prefix: "" }];
  for (const { node, prefix } of folders) {
    names.list(node, 0, (bytes, start, end, child) => {
      const path = prefix + decodeName(bytes, start, end);
      entries.set(path, names.record(child));
      if (names.isDirectory(child)) {
        folders.push({ node: child, prefix: `${path}/` });
      }
      return true;
    });
  }
  return entries;
}

Deno.test("a structure reads as listed, in batches of any number", () => {
  for (const count of [0, 1, 2, 999, 1000, 1001, 2000, 2001]) {
    const listing = new PackListing();
    const expected = new Map<string, number>();
    listing.addFile("a", 5);
    expected.set("a", 0);
    listing.startFolder("many");
    expected.set("many", -1);
    for (let i = 0; i < count; i++) {
      // Folders among the files, so that batches end inside and outside of folders.
      listing.startFolder(`d${i}`);
      listing.addFile("\udcff", 1);
      listing.endFolder();
      expected.set(`many/d${i}`, -1);
      expected.set(`many/d${i}/\udcff`, i + 1);
    }
    listing.endFolder();
    listing.addFile("z", 5);
    expected.set("z", count + 1);
    const names = buildNameTable(
      [{ structure: structureOf(listing), folder: undefined }],
    );
    assert.deepEqual(entriesOf(names), expected);
  }
});

Deno.test("a listing returns what was added, however long", () => {
  const listing = new PackListing();
  const expected = [];
  for (let i = 0; i < 20_000; i++) {
    const name = `${i}`.padStart(255, "n");
    const size = i * 2 ** 30;
    const mtimeMs = i / 8;
    listing.addFile(name, size, mtimeMs);
    expected.push({ kind: "file", name, size, mtimeMs });
  }
  const before = [listing.files, listing.folders, listing.bytes];
  const outer = listing.mark();
  listing.startFolder("outer");
  const inner = listing.mark();
  listing.startFolder("inner");
  assert.equal(listing.takeBackEmptyFolder(inner), true);
  assert.equal(listing.takeBackEmptyFolder(outer), true);
  assert.deepEqual([listing.files, listing.folders, listing.bytes], before);
  const kept = listing.mark();
  listing.startFolder("kept");
  listing.addFile("x", 0);
  assert.equal(listing.takeBackEmptyFolder(kept), false);
  listing.endFolder();
  assert.deepEqual([...listing], [
    ...expected,
    { kind: "folder", name: "kept" },
    { kind: "file", name: "x", size: 0, mtimeMs: 0 },
    { kind: "end" },
  ]);
});

Deno.test("more names than a table can hold are rejected by name", () => {
  const listing = new PackListing();
  for (const name of ["one", "two", "\udcff"]) listing.addFile(name, 1);
  const structure = structureOf(listing);
  const { length } = structure.machine.bytes;
  const placed = [{ structure, folder: undefined }];
  const expected = {
    name: "FormatError",
    code: "too-large",
    message: /x\.ffr.*more than 4 GiB/,
  };
  // In the pickle, the third name is encoded differently than on disk, and takes one byte more.
  assert.equal(entriesOf(buildNameTable(placed, length + 1)).size, 3);
  assert.throws(() => buildNameTable(placed, length), expected);
  assert.throws(() => buildNameTable(placed, length - 1), expected);
  const two = ["a", "b"].map((folder) => ({ structure, folder }));
  assert.throws(() => buildNameTable(two, 2 * length - 1), expected);

  requireRoom("dir", listing, { nameBytes: 10_000, records: 3 });
  const refused = { name: "PackError", code: "too-large" };
  const limits: [object, RegExp][] = [
    [{ records: 2 }, /Cannot pack dir: it has 3 files.*room for 2\./],
    [{ nameBytes: 20 }, /bytes of names.*room for 20 bytes/],
  ];
  for (const [limit, message] of limits) {
    assert.throws(() => requireRoom("dir", listing, limit), {
      ...refused,
      message,
    });
  }
});

Deno.test({
  name: "Python reads indices of any size",
  ...needs("python3"),
  async fn() {
    for (const first of [0, 254, 65_534, 2 ** 31 - 2, 2 ** 32 - 2, 2 ** 40]) {
      const listing = new PackListing();
      for (const name of ["a", "b", "c", "d"]) listing.addFile(name, 0);
      const child = new Deno.Command(PYTHON, {
        args: [
          "-c",
          "import sys,pickle\nd = sys.stdin.buffer.read()\n" +
          "assert d[:9] == b'piouhjgbr'\n" +
          "s = pickle.loads(d[9:])\nprint(type(s).__name__, *s.items())",
        ],
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new Uint8Array(sampleOf(listing, first)));
      await writer.close();
      const { stdout } = await child.output();
      const items = ["a", "b", "c", "d"].map((name, i) =>
        `('${name}', ${first + i})`
      );
      assert.equal(
        new TextDecoder().decode(stdout),
        `OrderedDict ${items.join(" ")}\n`,
      );
    }
  },
});

Deno.test("names of files are read by the fast path, like those of Python", () => {
  const listing = new PackListing();
  for (let i = 0; i < 70_000; i++) listing.addFile(`f${i}`, 1);
  const { containers } = structureOf(listing).machine;
  assert.equal(containers.numberedItems, 70_000);
  assert.equal(containers.items.length, 0);
});
