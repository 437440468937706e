import { untold } from "../../../io/write/writer_base.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  type PlanNotes,
  type Run,
  UnfitError,
} from "../../../convert/conversion.ts";
import { recordsFrom } from "../../../convert/from/record_list.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import type { ConversionTarget } from "../../../convert/to/target.ts";
import { WriteError } from "../../../base/errors.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { writeError } from "../../../io/write/write_error.ts";
import { syncDirectoryOf } from "../../../io/write/write_target.ts";
import { indexPath } from "../bag/bag.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { BagWriter, requireAbsent } from "../write/bag_writer.ts";
import { fitting } from "./new_dataset.ts";

export const bagTarget: ConversionTarget = {
  options: ["generation"],
  content: { what: "a bag", isOwn: () => false },
  form(path) {
    if (/[^/]\.bag$/.test(path)) {
      return { isDirectory: false, files: (path) => [indexPath(path), path] };
    }
    throw new WriteError(
      "bad-name",
      `Cannot write ${path}: the name of a bag must end in .bag`,
      { path },
    );
  },
  async plan(source, target, options) {
    const { generation = 3 } = options;
    const { list, notes } = await recordsFrom(source, options);
    noteChecksums(source, notes);
    return {
      from: source.what,
      to: `a bag of generation ${generation}`,
      notes,
      unit: "samples",
      total: list.length,
      write: (run) =>
        writeBag(target, generation, run, async (append) => {
          for (let i = 0; i < list.length; i++) {
            const record = await list.at(i);
            try {
              await append(fitting("record", generation, () => record));
            } catch (error) {
              if (!(error instanceof UnfitError)) throw error;
              const number = list.numberOf?.(i) ?? i;
              run.leaveOut(
                `sample ${number} of ${source.path}: ${error.message}`,
                error,
              );
            }
          }
        }),
    };
  },
};

/** Notes the fate of checksums, which bags do not have. */
export function noteChecksums(
  { checksumChange }: ConversionSource,
  { changed }: PlanNotes,
): void {
  if (checksumChange !== undefined) changed.push(checksumChange);
}

/** Writes a bag of any generation atomically; in generation 3, with its index. Returns the number of records. */
async function writeBag(
  target: string,
  generation: Generation,
  run: Run,
  fill: (append: (record: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<number> {
  const { signal } = run;
  await runAsync(requireAbsent(target), signal);
  const directory = await runAsync(NewDirectory.create(target), signal);
  try {
    const file = path.join(directory.temporary, path.basename(target));
    await using writer = untold(
      await BagWriter.open(file, { generation, signal }),
    );
    await fill(async (record) => {
      await writer.write(record, { signal });
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
    throw directory.asPublished(error, path.dirname(target)); // its files are moved there, without the directory
  } finally {
    directory.discard();
  }
}
