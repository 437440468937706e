import { PlanNotes, UnfitError } from "../../../convert/conversion.ts";
import { recordsFrom } from "../../../convert/from/record_list.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import type { ConversionTarget } from "../../../convert/to/target.ts";
import { WriteError } from "../../../errors.ts";
import { indexPath } from "../bag/index_path.ts";
import { writeBag } from "./new_bag.ts";
import { fitting } from "./new_dataset.ts";

/** Anything to a single bag. */
export const bagTarget: ConversionTarget = {
  options: ["generation"],
  content: { what: "a bag", isOwn: () => false },
  form(path) {
    if (/[^/]\.bag$/.test(path)) {
      return { isDirectory: false, files: (path) => [indexPath(path), path] };
    }
    throw new WriteError(
      "bad-name",
      `Cannot write ${path}: the name of a bag ends in .bag`,
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
              run.leaveOut(`sample ${i} of ${source.path}: ${error.message}`);
            }
          }
        }),
    };
  },
};

/** Notes what becomes of checksums, which bags have none of. */
export function noteChecksums(
  { checksumChange }: ConversionSource,
  { changed }: PlanNotes,
): void {
  if (checksumChange !== undefined) changed.push(checksumChange);
}
