/** Folders that change while they are packed, and aborted packing. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { packFolder } from "../../../../src/formats/ffrecord/mod.ts";
import { PackFiles } from "../../../../src/formats/ffrecord/pack/pack_files.ts";
import { PackListing } from "../../../../src/formats/ffrecord/pack/pack_listing.ts";
import { SampleBlock } from "../../../../src/formats/ffrecord/write/sample_block.ts";
import { openNamed } from "../../../../src/io/dirfd/directory_by_path.ts";
import { openDirectory } from "../../../../src/io/dirfd/open_directory.ts";
import { descriptorsBelow } from "../../../support/programs/descriptors.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";

const LARGE = 3_000_000;

/** Makes a folder, and asserts that nothing else remains at the end. */
async function withFolder(
  body: (folder: string, out: string) => Promise<void> | void,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in/sub`, { recursive: true });
    fs.writeFileSync(`${dir}/in/large`, new Uint8Array(LARGE));
    for (const name of ["sub/x", "sub/y", "z"]) {
      fs.writeFileSync(`${dir}/in/${name}`, "12345");
    }
    await body(`${dir}/in`, `${dir}/out`);
    assert.deepEqual(fs.readdirSync(dir), ["in"]);
    assert.equal(await descriptorsBelow(dir), 0);
  });
}

const changed = (path: string) => ({
  name: "PackError",
  code: "changed",
  path,
  message: /changed while the folder was packed.*again/,
});

const CHANGES: [string, string, (folder: string) => void][] = [
  ["vanishes", "sub/y", (folder) => fs.rmSync(`${folder}/sub/y`)],
  ["grows", "sub/y", (folder) => fs.appendFileSync(`${folder}/sub/y`, "6")],
  ["shrinks", "sub/y", (folder) => fs.truncateSync(`${folder}/sub/y`, 4)],
  ["becomes a directory", "sub/y", (folder) => {
    fs.rmSync(`${folder}/sub/y`);
    fs.mkdirSync(`${folder}/sub/y`);
  }],
  ["becomes a pipe", "sub/y", (folder) => {
    fs.rmSync(`${folder}/sub/y`);
    const args = [`${folder}/sub/y`];
    new Deno.Command("mkfifo", { args }).outputSync();
  }],
  ["loses its directory", "sub", (folder) => {
    fs.renameSync(`${folder}/sub`, `${folder}/moved`);
  }],
];

for (const [what, path, change] of CHANGES) {
  for (const parts of [1, 2]) {
    Deno.test({
      name: `a file that ${what} ends the packing into ${parts}`,
      ...needs("mkfifo"),
      fn: () =>
        withFolder(async (folder, out) => {
          // When the last entry is filtered, all others have been listed.
          const filter = (entry: { path: string }) => {
            if (entry.path === "z") change(folder);
            return true;
          };
          const target = parts === 1 ? `${out}.ffr` : out;
          await assert.rejects(
            packFolder(folder, target, { parts, filter }),
            changed(`${folder}/${path}`),
          );
        }),
    });
  }
}

const MEANWHILE: [string, (file: string) => void][] = [
  ["grows", (file) => fs.appendFileSync(file, "more")],
  ["shrinks", (file) => fs.truncateSync(file, LARGE / 2)],
  ["is written", (file) => fs.utimesSync(file, 1, 1)],
];

for (
  const [way, open] of [
    ["by descriptor", openDirectory],
    ["by path", openNamed],
  ] as const
) {
  for (const [what, change] of MEANWHILE) {
    Deno.test(`a file that ${what} while it is read ${way} is detected`, () =>
      withFolder((folder) => {
        const root = open(folder);
        const listing = new PackListing();
        const { mtimeMs } = root.stat("large", "keep")!;
        listing.addFile("large", LARGE, mtimeMs);
        const files = new PackFiles(root, listing[Symbol.iterator]());
        const block = new SampleBlock(
          new ArrayBuffer(SampleBlock.sizeFor(1 << 20)),
        );
        files.fill(block, 1);
        assert.ok(0 < block.used && block.used < LARGE);
        change(`${folder}/large`);
        const readOn = () => {
          while (block.count < 1) {
            block.clear();
            files.fill(block, 1);
          }
        };
        assert.throws(readOn, changed(`${folder}/large`));
        files.close();
        root.close();
      }));
  }
}

for (const parts of [1, 2]) {
  Deno.test(`an abort leaves nothing of ${parts}`, () =>
    withFolder(async (folder, out) => {
      // A sparse file, so large that packing can't finish before the abort.
      fs.truncateSync(`${folder}/large`, 2 ** 40);
      const target = parts === 1 ? `${out}.ffr` : out;
      const pack = (signal: AbortSignal, onProgress = () => {}) =>
        packFolder(folder, target, { parts, signal, onProgress });
      const reason = new Error("enough");
      await assert.rejects(pack(AbortSignal.abort(reason)), reason);
      const midway = new AbortController();
      await assert.rejects(
        pack(midway.signal, () => {
          assert.ok(fs.readdirSync(`${folder}/..`).length > 1);
          midway.abort(reason);
        }),
        reason,
      );
      // A callback that throws aborts as well.
      await assert.rejects(
        pack(new AbortController().signal, () => {
          throw reason;
        }),
        reason,
      );
    }));
}
