import { untold } from "../../../io/write/writer_base.ts";
import { basename, resolve } from "node:path";
import {
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import {
  inSequence,
  type RecordSequence,
  recordsFrom,
} from "../../../convert/from/record_list.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
} from "../../../convert/to/target.ts";
import {
  areShards,
  writeNumberedShards,
} from "../../../convert/to/numbered_shards.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { isShard } from "../layout.ts";
import { samplesToExamples } from "./samples_to_examples.ts";
import { TFRecordWriter } from "../write/tfrecord_writer.ts";

/** Writes any source to a file of records, or to shards in a directory. */
export const tfrecordTarget: ConversionTarget = {
  options: ["shardSize", "shardLength"],
  content: { what: "files of TFRecord", isOwn: isShard },
  form: (_path, options) => areShards(options) ? DIRECTORY : FILE,
  async plan(source, target, options) {
    const { records, notes, what } = await planRecords(source, options);
    const inShards = areShards(options);
    return {
      from: source.what,
      to: inShards ? `shards of TFRecord${what}` : `TFRecord${what}`,
      notes,
      unit: "samples",
      total: records.length,
      write: (run) =>
        inShards
          ? NewDirectory.write(
            target,
            run.signal,
            (temporary) =>
              writeNumberedShards(
                records.read(run),
                async (path) =>
                  untold(
                    await TFRecordWriter.open(path, { signal: run.signal }),
                  ),
                `${temporary}/${shardName(target)}`,
                "",
                run,
                options,
              ),
          )
          : writeFile(records, target, run),
    };
  },
};

/** Converts samples with fields to examples, and other sources to their contents. */
async function planRecords(
  source: ConversionSource,
  options: ConvertOptions,
): Promise<{ records: RecordSequence; notes: PlanNotes; what: string }> {
  const notes = new PlanNotes();
  const rows = await source.samples(notes, options);
  if (rows === undefined) {
    const { list, notes } = await recordsFrom(source, options);
    return { records: inSequence(list), notes, what: "" };
  }
  const { path } = source;
  const records = await samplesToExamples(rows, path, notes, options);
  return { records, notes, what: ", examples of TensorFlow" };
}

/** Returns the base name of a directory's shards; names with a dot need the suffix to be recognized. */
function shardName(target: string): string {
  const name = basename(resolve(target));
  return isShard(`${name}-00000-of-00001`) ? name : `${name}.tfrecord`;
}

async function writeFile(
  records: RecordSequence,
  path: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  await using writer = untold(await TFRecordWriter.open(path, { signal }));
  for await (const record of records.read(run)) {
    await writer.write(record, { signal });
    run.tell(writer.length);
  }
  await writer.close({ signal });
  return writer.length;
}
