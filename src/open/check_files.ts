import { FormatError } from "../base/errors.ts";
import { CheckRun } from "../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../tree/format.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import { checkIndexFile } from "../io/index_cache/check_index_file.ts";
import { openAdjacent } from "../io/storage/open_adjacent.ts";
import { newExtent } from "../tree/tree.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { countSamples } from "./data/counted_samples.ts";

/**
 * Checks a container by reading all files below a directory, which verifies those with checksums: one of a format without
 * a check, or one that shows nested ones.
 */
export async function checkFiles(
  fs: VirtualFs,
  options: CheckOptions,
  path = "",
): Promise<CheckReport> {
  const { info } = fs;
  const run = new CheckRun(options, info.bytes);
  const { signal } = run;
  for (const { archive, name, code, message } of info.unreadable ?? []) {
    // Others are files, which are found when they are read.
    if (name === "") {
      run.damage(new FormatError(code, message, { path: archive }));
    }
  }
  const extent = newExtent();
  let isSummed = false;
  const onDamage = (error: FormatError) => run.damage(error);
  for await (const entry of fs.walk(path, { signal, onDamage })) {
    if (!entry.isFile) continue;
    await run.part(async () => {
      for await (const piece of await fs.stream(entry, { signal })) {
        run.advanceTo(Math.min(run.done + piece.length, run.total));
      }
      if (isSummed) return;
      await run.run(whenLoaded(() => fs.tree.locate(entry.ino, extent)));
      isSummed = extent.checksumKind !== undefined;
    });
  }
  for (const { path } of info.parts) {
    await run.part(() => run.run(checkIndexOf(path, run)));
  }
  run.advanceTo(run.total); // the container also has an index and padding
  const { length: samples } = countSamples(info);
  const areCompared = isSummed || samples === 0;
  return run.report({
    samples,
    compares: areCompared ? "contents" : "structure",
  });
}

/** Checks the index file next to a part of a container, unless that lies in another file. */
function* checkIndexOf(path: string, run: CheckRun): Steps<void> {
  const source = yield* openAdjacent(run.storage, path);
  if (source === undefined) return;
  try {
    yield* checkIndexFile(source, run);
  } finally {
    source.close();
  }
}
