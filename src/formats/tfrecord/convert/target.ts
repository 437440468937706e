import { untold } from "../../../io/write/writer_base.ts";
import * as fs from "node:fs";
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
import { runAsync } from "../../../io/concurrency/steps.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { syncDirectoryOf } from "../../../io/write/write_target.ts";
import { isShard } from "../layout.ts";
import { samplesToExamples } from "./samples_to_examples.ts";
import { TFRecordWriter } from "../write/tfrecord_writer.ts";

/** Digits of a shard's number, and of the number of shards. */
const DIGITS = 5;

/** Limits at which a shard is full. */
type Limits = Pick<ConvertOptions, "shardLength" | "shardSize">;

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
              writeShards(
                records,
                `${temporary}/${shardName(target)}`,
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

function areShards({ shardLength, shardSize }: Limits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
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

/** Writes shards to `start` and a number. When all are written, each is renamed to include their total. */
async function writeShards(
  records: RecordSequence,
  start: string,
  run: Run,
  { shardLength = Infinity, shardSize = Infinity }: Limits,
): Promise<number> {
  const { signal } = run;
  let [shards, written] = [0, 0];
  const openNext = () =>
    TFRecordWriter.open(`${start}-${numberOf(shards++)}`, { signal });
  // Without records, there is one empty shard.
  let writer = await openNext();
  try {
    for await (const record of records.read(run)) {
      if (writer.length >= shardLength || writer.size >= shardSize) {
        await writer.close({ signal });
        writer = await openNext();
      }
      await writer.write(record, { signal });
      run.tell(++written);
    }
    await writer.close({ signal });
  } finally {
    await untold(writer)[Symbol.asyncDispose]();
  }
  for (let shard = 0; shard < shards; shard++) {
    const path = `${start}-${numberOf(shard)}`;
    await fs.promises.rename(path, `${path}-of-${numberOf(shards)}`);
  }
  await runAsync(syncDirectoryOf(start));
  return written;
}

function numberOf(shard: number): string {
  return String(shard).padStart(DIGITS, "0");
}
