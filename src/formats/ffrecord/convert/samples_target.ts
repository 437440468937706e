import { ConversionError } from "../../../convert/conversion.ts";
import { recordsFrom } from "../../../convert/from/records_from.ts";
import type { ConversionTarget } from "../../../convert/to/target.ts";
import { dump, dumpParts } from "../write/dump.ts";
import { isInParts } from "../write/parts.ts";
import { FILES_OF_IT, formOfFile } from "./file_form.ts";

/** Anything to plain samples of FFRecord. */
export const samplesTarget: ConversionTarget = {
  options: ["parts"],
  content: FILES_OF_IT,
  makesParents: true, // parts of samples are put into directories that are made
  form: formOfFile,
  async plan(source, target, options) {
    const { parts, signal, onWarning } = options;
    const { list, isByIndex, notes } = await recordsFrom(source, options);
    const inParts = isInParts(target, parts);
    // Parts are written at once, and files come one after the other.
    if (!isByIndex && parts !== undefined && parts > 1) {
      throw new ConversionError(
        "bad-option",
        "Files that become samples are written to one file: leave out the option `parts`",
        source.path,
      );
    }
    return {
      from: source.what,
      to: "FFRecord samples",
      notes,
      unit: "samples",
      total: list.length,
      async write(run) {
        const onProgress = (done: number) => run.tell(done);
        const told = { signal, onWarning, onProgress };
        if (inParts) await dumpParts(list, target, parts!, told);
        else await dump(list, target, 1, told);
        return list.length;
      },
    };
  },
};
