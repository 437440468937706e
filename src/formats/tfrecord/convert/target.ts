import { untold } from "../../../io/write/writer_base.ts";
import * as fs from "node:fs";
import { basename, resolve } from "node:path";
import type { ConvertOptions, Run } from "../../../convert/conversion.ts";
import {
  type RecordList,
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
import { TFRecordWriter } from "../write/tfrecord_writer.ts";

/** Digits of the number of a shard, and of how many there are. */
const DIGITS = 5;

/** When a shard is full. */
type Limits = Pick<ConvertOptions, "shardLength" | "shardSize">;

/** Anything to a file of records, or to shards in a directory. */
export const tfrecordTarget: ConversionTarget = {
  options: ["shardSize", "shardLength"],
  content: { what: "files of TFRecord", isOwn: isShard },
  form: (_path, options) => areShards(options) ? DIRECTORY : FILE,
  async plan(source, target, options) {
    const { list, notes } = await recordsFrom(source, options);
    const inShards = areShards(options);
    return {
      from: source.what,
      to: inShards ? "shards of TFRecord" : "TFRecord",
      notes,
      unit: "samples",
      total: list.length,
      write: (run) =>
        inShards
          ? NewDirectory.write(
            target,
            run.signal,
            (temporary) =>
              writeShards(
                list,
                `${temporary}/${shardName(target)}`,
                run,
                options,
              ),
          )
          : writeFile(list, target, run),
    };
  },
};

function areShards({ shardLength, shardSize }: Limits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
}

/** What the shards of a directory are called: names that have a dot need the suffix to be known by. */
function shardName(target: string): string {
  const name = basename(resolve(target));
  return isShard(`${name}-00000-of-00001`) ? name : `${name}.tfrecord`;
}

async function writeFile(
  list: RecordList,
  path: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  await using writer = untold(await TFRecordWriter.open(path, { signal }));
  for (let i = 0; i < list.length; i++) {
    await writer.write(await list.at(i), { signal });
    run.tell(writer.length);
  }
  await writer.close({ signal });
  return writer.length;
}

/**
 * Writes shards. How many there are is known when the last one is full, and each has it in its name then.
 *
 * @param start What stands before their numbers.
 */
async function writeShards(
  list: RecordList,
  start: string,
  run: Run,
  { shardLength = Infinity, shardSize = Infinity }: Limits,
): Promise<number> {
  const { signal } = run;
  let shards = 0;
  const openNext = () =>
    TFRecordWriter.open(`${start}-${numberOf(shards++)}`, { signal });
  // Of nothing there is one shard, without records.
  let writer = await openNext();
  try {
    for (let i = 0; i < list.length; i++) {
      if (writer.length >= shardLength || writer.size >= shardSize) {
        await writer.close({ signal });
        writer = await openNext();
      }
      await writer.write(await list.at(i), { signal });
      run.tell(i + 1);
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
  return list.length;
}

function numberOf(shard: number): string {
  return String(shard).padStart(DIGITS, "0");
}
