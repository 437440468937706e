import * as fs from "node:fs";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { syncDirectoryOf } from "../../io/write/write_target.ts";
import type { ConvertOptions, Run } from "../conversion.ts";

/** Limits at which a shard is full. */
export type ShardLimits = Pick<ConvertOptions, "shardLength" | "shardSize">;

/** Writer of one shard; leaves nothing if it is disposed before it is closed. */
export interface ShardWriter<T> extends AsyncDisposable {
  /** Number of samples so far. */
  readonly length: number;
  /** Bytes so far. */
  readonly size: number;
  write(sample: T, options: WaitOptions): Promise<unknown>;
  close(options: WaitOptions): Promise<void>;
}

/** Digits of a shard's number, and of the number of shards. */
const DIGITS = 5;

export function areShards({ shardLength, shardSize }: ShardLimits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
}

/**
 * Writes shards `START-00000-of-00010` and a suffix. They get these names when all are written and their number is
 * known. Without samples, there is one empty shard.
 *
 * @returns Number of samples written.
 */
export async function writeNumberedShards<T>(
  samples: AsyncIterable<T>,
  open: (path: string) => Promise<ShardWriter<T>>,
  start: string,
  suffix: string,
  run: Run,
  { shardLength = Infinity, shardSize = Infinity }: ShardLimits,
): Promise<number> {
  const { signal } = run;
  let [shards, written] = [0, 0];
  const openNext = () => open(`${start}-${numberOf(shards++)}`);
  let writer = await openNext();
  try {
    for await (const sample of samples) {
      if (writer.length >= shardLength || writer.size >= shardSize) {
        await writer.close({ signal });
        writer = await openNext();
      }
      await writer.write(sample, { signal });
      run.tell(++written);
    }
    await writer.close({ signal });
  } finally {
    await writer[Symbol.asyncDispose]();
  }
  for (let shard = 0; shard < shards; shard++) {
    const path = `${start}-${numberOf(shard)}`;
    await fs.promises.rename(path, `${path}-of-${numberOf(shards)}${suffix}`);
  }
  await runAsync(syncDirectoryOf(start));
  return written;
}

function numberOf(shard: number): string {
  return String(shard).padStart(DIGITS, "0");
}
