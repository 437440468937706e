/** Any bytes in a meta file lead to a result or to an error of recordfs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { GulpDirectory } from "../../../../src/formats/gulp/mod.ts";
import { RecordfsError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { gulpCase } from "../../../support/gulp/gulp_golden.ts";
import { descriptorsBelow } from "../../../support/programs/descriptors.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

/** Changes a few bytes, as a bad disk, transfer or writer would. */
function damaged(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const at = fc.nat(bytes.length);
  const byte = fc.oneof(
    fc.nat(255),
    fc.constantFrom(...new TextEncoder().encode("0123456789-,[]{}")),
  );
  const other = fc.tuple(
    at,
    fc.constant(1),
    byte.map((value) => [value]),
  );
  const more = fc.tuple(at, fc.nat(12), fc.array(byte, { maxLength: 12 }));
  const change = fc.oneof({ arbitrary: other, weight: 4 }, more);
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let result = bytes;
    for (const [from, remove, added] of changes) {
      result = Uint8Array.from([
        ...result.subarray(0, from),
        ...added,
        ...result.subarray(from + remove),
      ]);
    }
    return result;
  });
}

function ours<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof RecordfsError, String(error));
    return undefined;
  }
}

for (const name of ["v2_appended", "v1_pickled_meta", "v1_pickled_meta_p2"]) {
  Deno.test(`a damaged meta file gives results or errors: ${name}`, async () => {
    const { path } = gulpCase(name);
    await withTempDir(async (dir) => {
      const meta = `${dir}/meta_0.gmeta`;
      fs.copyFileSync(`${path}/data_0.gulp`, `${dir}/data_0.gulp`);
      const { size } = fs.statSync(`${dir}/data_0.gulp`);
      const original = new Uint8Array(fs.readFileSync(`${path}/meta_0.gmeta`));
      let opened = 0;
      const property = fc.asyncProperty(damaged(original), async (bytes) => {
        fs.writeFileSync(meta, bytes);
        using directory = ours(() =>
          GulpDirectory.openSync(dir, { decode: false })
        );
        if (directory !== undefined) opened++;
        for (const id of directory?.mergedMetaDict.keys() ?? []) {
          const video = ours(() => directory!.getSync(id));
          for (const frame of video?.frames ?? []) {
            assert.ok(frame.length <= size);
          }
        }
        using vfs = ours(() => openSync(dir, { onWarning() {} }));
        for (const { path, isFile } of vfs?.walkSync() ?? []) {
          if (!isFile) continue;
          const { size } = vfs!.statSync(path);
          assert.equal(vfs!.readSync(path).length, size);
        }
        await check(dir, { onDamage() {}, onWarning() {} });
      });
      await fc.assert(property, { numRuns: LONG ? 300 : 80 });
      assert.ok(opened > 10);
    });
  });
}

Deno.test("label2idx.json that is not a file is skipped, and nothing remains open", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{ id: "a", frames: [fakeJpeg(40)] }]);
    await Deno.mkdir(`${dir}/label2idx.json`);
    const warnings: string[] = [];
    const options = { onWarning: (text: string) => warnings.push(text) };
    for (const opened of [await open(dir, options), openSync(dir, options)]) {
      assert.deepEqual(opened.listSync(), ["a"]);
      opened.close();
    }
    assert.equal(warnings.length, 2);
    assert.match(warnings[0]!, /^Skipped: .*label2idx\.json: it is not a/);
    assert.equal(await descriptorsBelow(dir), 0);
  });
});
