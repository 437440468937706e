import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../../errors.ts";
import { indexPath } from "../bag/index_path.ts";
import { BagWriter } from "../write/bag_writer.ts";
import type { Generation } from "../dataset/generation.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { writeError } from "../../../io/write/write_error.ts";
import { syncDirectoryOf } from "../../../io/write/write_target.ts";
import type { Run } from "../../../convert/conversion.ts";

/**
 * Writes a bag that appears whole or not at all, in every generation; in generation 3, with its
 * index.
 *
 * @param fill Appends the records.
 * @returns How many there are.
 */
export async function writeBag(
  target: string,
  generation: Generation,
  run: Run,
  fill: (append: (record: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<number> {
  const { signal } = run;
  requireNoIndex(target);
  const directory = await runAsync(NewDirectory.create(target), signal);
  try {
    const file = path.join(directory.temporary, path.basename(target));
    await using writer = await BagWriter.open(file, { generation, signal });
    await fill(async (record) => {
      await writer.append(record, { signal });
      run.tell(writer.length);
    });
    await writer.close({ signal });
    signal?.throwIfAborted();
    // The index first: without it, the bag would be taken for one of another generation.
    if (generation === 3) fs.renameSync(indexPath(file), indexPath(target));
    try {
      fs.renameSync(file, target);
    } catch (error) {
      if (generation === 3) fs.unlinkSync(indexPath(target));
      throw writeError(target, error);
    }
    await runAsync(syncDirectoryOf(target));
    return writer.length;
  } catch (error) {
    throw directory.asPublished(error);
  } finally {
    directory.discard();
  }
}

/** What lies beside a bag under the name of an index is taken for its index. */
function requireNoIndex(target: string): void {
  const index = indexPath(target);
  if (fs.lstatSync(index, { throwIfNoEntry: false }) === undefined) return;
  throw new WriteError(
    "exists",
    `Cannot write ${target}: ${index} exists, and would be taken for its index; remove it, ` +
      "or choose another name",
    { path: target },
  );
}
