/** Indexes of large tars that are kept: the second open reads no header, and a wrong one does no harm. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { TarReader } from "../../../../src/formats/tar/mod.ts";
import {
  listKeptTables,
  removeKeptTables,
} from "../../../../src/io/kept/kept_tables.ts";
import { open } from "../../../../src/open/mod.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { memberBytes } from "../../../support/tar/make_tar.ts";

const MEMBERS = 33_000;

const tars = new Map<string, Uint8Array>();

/** A tar of so many members that its index is kept. */
function writeTar(path: string, letter = "n"): void {
  let bytes = tars.get(letter);
  if (bytes === undefined) {
    const members = Array.from(
      { length: MEMBERS },
      (_, i) =>
        memberBytes({
          name: `./${letter}${i >> 1}.${i % 2 ? "cls" : "txt"}`,
          data: `${i}`,
        }),
    );
    tars.set(letter, bytes = Buffer.concat([...members, Buffer.alloc(1024)]));
  }
  fs.writeFileSync(path, bytes);
}

interface Place {
  readonly tar: string;
  readonly cache: string;
}

async function read(
  { tar, cache }: Place,
  name: string,
): Promise<string> {
  const remote = { cache: { directory: cache } };
  using reader = await TarReader.open(tar, { remote });
  assert.equal(reader.length, MEMBERS);
  assert.equal(reader.samples.length, MEMBERS / 2);
  const [sample] = await reader.samples.read([1]);
  assert.match(sample!.__key__, /^\.\/[a-z]1$/); // as the tar spells it
  return new TextDecoder().decode(await reader.read(name));
}

function keptFiles(cache: string): string[] {
  const directory = `${cache}/indexes`;
  return fs.existsSync(directory)
    ? fs.readdirSync(directory).map((name) => `${directory}/${name}`)
    : [];
}

/** Makes all headers unreadable, and nobody can see that: time, size and inode stay. */
function ruinHeaders(tar: string): void {
  const { atime, mtime } = fs.statSync(tar);
  const fd = fs.openSync(tar, "r+");
  fs.writeSync(fd, Buffer.alloc(512, 0x7a), 0, 512, 0);
  fs.closeSync(fd);
  fs.utimesSync(tar, atime, mtime);
}

async function withPlace(run: (place: Place) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    const place = { tar: `${dir}/t.tar`, cache: `${dir}/cache` };
    writeTar(place.tar);
    // Whole seconds: to set a time again rounds it.
    fs.utimesSync(place.tar, 1_700_000_000, 1_700_000_000);
    await run(place);
  });
}

Deno.test("the second open of a large tar reads no header", () =>
  withPlace(async (place) => {
    assert.equal(await read(place, "n700.cls"), "1401");
    const [file] = keptFiles(place.cache);
    assert.equal(fs.statSync(file!).mode & 0o777, 0o600);
    ruinHeaders(place.tar);
    assert.equal(await read(place, "n700.cls"), "1401");
    // The header before a content is read with it.
    await assert.rejects(read(place, "n0.txt"), {
      code: "bad-index",
      member: "n0.txt",
      message: /--no-cache/,
    });
    removeKeptTables(listKeptTables(place.cache));
    assert.deepEqual(keptFiles(place.cache), []);
    using reader = await TarReader.open(place.tar, {
      remote: { cache: false },
      onWarning: (warning) => assert.match(warning, /at byte 0 of/),
    });
    assert.equal(reader.length, MEMBERS - 1);
  }));

Deno.test("the header before a content is compared with a kept index in every thread, and by every reader", () =>
  withPlace(async ({ tar, cache }) => {
    const remote = { cache: { directory: cache } };
    (await TarReader.open(tar, { remote })).close();
    // Time, size and inode stay, as when a copy is written over a file.
    const { atime, mtime } = fs.statSync(tar);
    const fd = fs.openSync(tar, "r+");
    fs.writeSync(
      fd,
      memberBytes({ name: "other.txt", data: "1" }),
      0,
      1024,
      1024,
    );
    fs.closeSync(fd);
    fs.utimesSync(tar, atime, mtime);
    const stale = { code: "bad-index", member: "n0.cls" };
    const options = { remote, onWarning() {} };
    using container = await open(tar, options);
    assert.equal(Buffer.from(await container.read("n0.txt")).toString(), "0");
    await assert.rejects(async () => await container.read("n0.cls"), stale);
    assert.throws(() => container.readSync("n0.cls"), stale);
    await assert.rejects(async () => {
      await new Response(await container.stream("n0.cls")).bytes();
    }, stale);
    await assert.rejects(
      async () => await container.readRange("n0.cls", 0, 1),
      stale,
    );
    using reader = await TarReader.open(tar, { remote });
    await assert.rejects(reader.samples.read([0]), stale);
    using shared = await TarReader.openShared(reader.share());
    await assert.rejects(shared.read("n0.cls"), stale);
    const bytes = await shared.read(["n2.txt", "n1.cls"]);
    assert.deepEqual(bytes.map((one) => Buffer.from(one).toString()), [
      "4",
      "3",
    ]);
  }));

Deno.test("a kept index is for one state of a tar only", () =>
  withPlace(async (place) => {
    await read(place, "n1.txt");
    writeTar(place.tar, "m"); // as large as before
    assert.equal(await read(place, "m1.cls"), "3");
    assert.equal(keptFiles(place.cache).length, 1);
    // The same path, size and time, but another file.
    fs.utimesSync(place.tar, 1_700_000_000, 1_700_000_000);
    await read(place, "m1.cls");
    writeTar(`${place.tar}.new`, "o");
    fs.utimesSync(`${place.tar}.new`, 1_700_000_000, 1_700_000_000);
    fs.renameSync(`${place.tar}.new`, place.tar);
    assert.equal(await read(place, "o1.cls"), "3");
  }));

Deno.test("a damaged kept index is made anew", () =>
  withPlace(async (place) => {
    await read(place, "n1.txt");
    const [file] = keptFiles(place.cache);
    const whole = fs.readFileSync(file!);
    const flipped = (at: number) => {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1;
      return bytes;
    };
    const damaged = [
      Buffer.alloc(0),
      whole.subarray(0, 20),
      whole.subarray(0, whole.length - 8),
      whole.subarray(0, whole.length >> 1),
      ...[3, 24, 28, 40, whole.length >> 1, whole.length - 9].map(flipped),
      Buffer.concat([whole, Buffer.alloc(8, 1)]),
    ];
    for (const [i, bytes] of damaged.entries()) {
      if (!FULL && i % 3 > 0) continue;
      fs.writeFileSync(file!, bytes);
      assert.equal(await read(place, "n1.txt"), "2");
      assert.deepEqual(fs.readFileSync(file!).length, whole.length);
    }
  }));

Deno.test("nothing is kept where that is not wanted, or can't be done", () =>
  withPlace(async ({ tar, cache }) => {
    using reader = await TarReader.open(tar, { remote: { cache: false } });
    assert.equal(reader.length, MEMBERS);
    assert.deepEqual(keptFiles(cache), []);
    fs.writeFileSync(cache, "a file");
    assert.equal(await read({ tar, cache }, "n1.txt"), "2");
  }));
