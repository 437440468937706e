/** Files that are read by another thread while more are listed. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { packFolder } from "../../../../src/formats/ffrecord/mod.ts";
import {
  type PackReader,
  PackReaderHere,
} from "../../../../src/formats/ffrecord/pack/pack_reader.ts";
import { PackListing } from "../../../../src/formats/ffrecord/pack/pack_listing.ts";
import { PackThread } from "../../../../src/formats/ffrecord/pack/pack_thread.ts";
import { openDirectory } from "../../../../src/io/dirfd/open_directory.ts";
import { withMemoryDir } from "../../../support/paths.ts";
import { descriptorsBelow } from "../../../support/programs/descriptors.ts";

const MANY = 3000;
const LARGE = 100 << 20;

/** Makes a folder of many files, and asserts that none remains open at the end. */
async function withFolder(
  body: (folder: string, out: string) => Promise<void>,
): Promise<void> {
  await withMemoryDir(async (dir) => {
    const folder = `${dir}/in`;
    for (const name of ["a", "empty", "sub"]) {
      fs.mkdirSync(`${folder}/${name}`, { recursive: true });
    }
    for (let i = 0; i < MANY; i++) {
      fs.writeFileSync(`${folder}/a/${i}`, `${i}`.repeat(i % 7));
    }
    fs.writeFileSync(`${folder}/sub/x`, "12345");
    fs.writeFileSync(
      `${folder}/sub/y`,
      crypto.getRandomValues(new Uint8Array(9)),
    );
    fs.writeFileSync(`${folder}/z`, "12345");
    fs.truncateSync(`${folder}/a/77`, LARGE); // larger than the read-ahead
    await body(folder, `${dir}/out`);
    assert.equal(await descriptorsBelow(dir), 0);
  });
}

/** Pauses the walk at some files, as in a very large folder, so that it reports the files found so far. */
function slowly(more: (path: string) => void = () => {}) {
  let count = 0;
  return ({ path }: { path: string }) => {
    if (++count % 1200 === 0) {
      for (const end = performance.now() + 30; performance.now() < end;);
    }
    more(path);
    return true;
  };
}

/** Reads everything: bytes, and the rows of samples. */
async function everything(reader: PackReader): Promise<unknown[]> {
  const hash = createHash("sha256");
  const rows: [start: number, checksum: number][] = [];
  let done = 0;
  for (;;) {
    const block = await reader.next(Infinity);
    if (block === undefined) return [done, hash.digest("hex"), rows];
    hash.update(block.bytes);
    for (let n = 0; n < block.count; n++) {
      rows.push([done + block.startOf(n), block.checksumOf(n)]);
    }
    done += block.used;
    reader.free(block);
  }
}

Deno.test("another thread reads the same as this one, in pieces as they are listed", () =>
  withFolder(async (folder) => {
    const root = openDirectory(folder);
    const listing = new PackListing();
    const thread = PackThread.start(root)!; // needs at least two CPUs
    listing.startFolder("a");
    const directory = root.open("a", "follow");
    for (const name of directory.list().names) {
      const { size, mtimeMs } = directory.stat(name, "follow")!;
      listing.addFile(name, size, mtimeMs);
      if (listing.files % 100 === 0) {
        thread.tell(listing, listing.settled);
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
    directory.close();
    listing.endFolder();
    // Entries that may be withdrawn are not reported.
    const mark = listing.mark();
    listing.startFolder("empty");
    thread.tell(listing, listing.settled);
    assert.ok(listing.takeBackEmptyFolder(mark));
    const { size, mtimeMs } = root.stat("z", "follow")!;
    listing.addFile("z", size, mtimeMs);
    thread.tell(listing, "whole");
    const here = new PackReaderHere(root, listing);
    assert.deepEqual(await everything(thread), await everything(here));
    assert.equal(await thread.next(), undefined);
    await thread.close();
    await here.close();
    root.close();
  }));

Deno.test("a folder of many files is packed to the same bytes as without a thread", () =>
  withFolder(async (folder, out) => {
    fs.truncateSync(`${folder}/a/77`, LARGE / 20);
    for (const emptyDirectories of [true, false]) {
      const options = { emptyDirectories, filter: slowly() };
      await packFolder(folder, `${out}.ffr`, options);
      await packFolder(folder, out, { ...options, parts: 1 });
      const bytes = fs.readFileSync(`${out}.ffr`);
      assert.ok(bytes.equals(fs.readFileSync(`${out}/PART_00000.ffr`)));
      fs.rmSync(out, { recursive: true });
    }
  }));

for (
  const [what, change] of [
    ["vanishes", (path: string) => fs.rmSync(path)],
    ["grows", (path: string) => fs.appendFileSync(path, "6")],
  ] as const
) {
  Deno.test(`a file that ${what} ends the packing by another thread`, () =>
    withFolder(async (folder, out) => {
      const path = `${folder}/sub/y`;
      const filter = slowly((at) => at === "z" && change(path));
      await assert.rejects(packFolder(folder, `${out}.ffr`, { filter }), {
        name: "PackError",
        code: "changed",
        path,
      });
      assert.ok(!fs.existsSync(`${out}.ffr`));
    }));
}

Deno.test("packing by another thread can be aborted while the folder is listed, and while it is written", () =>
  withFolder(async (folder, out) => {
    const reason = new Error("enough");
    for (const when of ["walk", "write"]) {
      const abort = new AbortController();
      const filter = slowly((path) =>
        when === "walk" && path === "sub" && abort.abort(reason)
      );
      const onProgress = () => abort.abort(reason);
      await assert.rejects(
        packFolder(folder, `${out}.ffr`, {
          filter,
          onProgress,
          signal: abort.signal,
        }),
        reason,
      );
      assert.deepEqual(fs.readdirSync(`${folder}/..`), ["in"]);
    }
  }));
