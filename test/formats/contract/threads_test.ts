/** Other threads make the same tree, samples and dataset from shared data, and reject files that have changed. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import { open } from "../../../src/open/open.ts";
import { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import type { Samples } from "../../../src/tree/samples/samples.ts";
import { SamplesReader } from "../../../src/tree/samples/samples_reader.ts";
import { whenLoaded } from "../../../src/tree/not_loaded.ts";
import { areOpen, newExtent, reopenHandle } from "../../../src/tree/tree.ts";
import { assertPortable } from "../../data/support/in_thread.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { FULL } from "../../support/long.ts";
import { filesBelow, type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Reopens a container's tree as another thread would. */
function reopening({ location, tree, info }: VirtualFs) {
  const handle = structuredClone(tree.share());
  return async () =>
    new VirtualFs(location, { tree: await reopenHandle(handle), info }, true);
}

/** Appends to each file of a container. */
function change(dir: string): void {
  for (const file of filesBelow(dir)) fs.appendFileSync(file, "x");
}

/** Reopens shared samples as another thread would. */
async function samplesAgain(samples: Samples): Promise<() => Promise<Samples>> {
  const { module, data } = structuredClone(samples.share());
  const { reopenSamples } = await import(module);
  return () => runAsync(reopenSamples(data as never, LOCAL_DISK));
}

/** Returns the contents of a tree's files: their bytes, or only their locations if the thread has no files. */
function contentsOf(shown: VirtualFs, hasFiles: boolean): unknown[] {
  const { tree } = shown;
  const files = [...shown.walkSync()].filter(({ isFile }) => isFile);
  return files.map((file) => {
    if (hasFiles) return [file, shown.readSync(file)];
    const extent = newExtent();
    return [file, runSync(whenLoaded(() => tree.locate(file.ino, extent))), {
      ...extent,
    }];
  });
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: another thread has the same tree, and rejects a file that has changed`, () =>
    withSmall(format, async (path, dir) => {
      for (const decoded of [false, true]) {
        using shown = await open(path, { decoded });
        const reopen = reopening(shown);
        using again = await reopen();
        const { sources } = again.tree;
        const hasFiles = areOpen(sources) && sources.length > 0;
        assert.equal(again.tree.nodeCount, shown.tree.nodeCount);
        assert.deepEqual([...again.walkSync()], [...shown.walkSync()]);
        const contents = contentsOf(shown, hasFiles);
        assert.deepEqual(contentsOf(again, hasFiles), contents);
        if (!decoded || !hasFiles) continue;
        again.close();
        change(`${dir}/in`);
        await assert.rejects(async () => {
          using changed = await reopen();
          contentsOf(changed, hasFiles);
        }, RecordfsError);
      }
      assert.equal(descriptorsBelowNow(dir), 0);
    }));

  Deno.test(`${title}: another thread has the same samples, and rejects a file that has changed`, () =>
    withSmall(format, async (path, dir) => {
      using shown = await open(path);
      const { samples } = shown;
      if (samples !== undefined) await compareSamples(format, samples, dir);
      if (!FULL) return; // loaders use threads too
      using dataset = await format.openDataset(path, {});
      await assertPortable(dataset, [2, 0, 1, 1]);
    }));
}

async function compareSamples(
  { keys, keyOf }: FormatCase,
  samples: Samples,
  dir: string,
): Promise<void> {
  const make = await samplesAgain(samples);
  using again = new SamplesReader(await make());
  const read = await again.decoded([2, 0, 1]);
  assert.deepEqual(read.map(keyOf), [keys[2], keys[0], keys[1]]);
  const files = filesBelow(`${dir}/in`);
  const before = files.map((file) => fs.readFileSync(file));
  change(`${dir}/in`);
  await assert.rejects(async () => {
    using changed = new SamplesReader(await make());
    await changed.decoded([2, 0, 1]);
  }, RecordfsError);
  for (const [i, file] of files.entries()) fs.writeFileSync(file, before[i]!);
}
