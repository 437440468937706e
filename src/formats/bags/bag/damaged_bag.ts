import { FormatError } from "../../../base/errors.ts";
import { reasonIn } from "../../../base/message_text.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import {
  type ArchiveNotes,
  damageNotes,
} from "../../../tree/archive/archive_notes.ts";
import { Bag } from "./bag.ts";
import { pastEnd } from "../../../tree/limits/limit_entries.ts";

interface LostValue {
  readonly key: string;
  /** Index of its datapoint in the shard. */
  readonly datapoint: number;
  /** Index of its datapoint across all shards. */
  readonly sample: number;
  readonly shard: string;
  /** Path of the value in the tree, if it is a file there. */
  readonly member?: string | undefined;
}

/** Placeholder, without records, for a damaged bag in a shard whose other files tell the number of datapoints. */
export class DamagedBag extends Bag {
  readonly damage: FormatError;

  constructor(path: string, generation: Generation, damage: FormatError) {
    super(generation, 0, 0, new MemorySource(new Uint8Array(0), path, 0));
    this.damage = damage;
  }

  errorOf({ key, datapoint, sample, shard, member }: LostValue): FormatError {
    const { code, message } = this.damage;
    return new FormatError(
      code,
      `Cannot read '${key}' of datapoint ${datapoint} of ${shard} ` +
        `(datapoint ${sample} of all shards): its bag ${this.path} ` +
        `is damaged: ${reasonIn(message, this.path)}`,
      { path: shard, sample, member, cause: this.damage },
    );
  }
}

/** Upper limit of references to records of a bag: unlimited for a damaged bag, whose length is unknown. */
export function recordLimit(bag: Bag): number {
  return bag instanceof DamagedBag ? Infinity : bag.length;
}

/** Returns notes on unreadable parts: all of a damaged bag, and the last records of a truncated one. */
export function* bagNotes(bags: readonly Bag[]): Steps<ArchiveNotes[]> {
  const notes: (ArchiveNotes | undefined)[] = [];
  yield* inParallel(bags.map(function* (bag, k): Steps<void> {
    notes[k] = bag instanceof DamagedBag ? noteOf(bag) : yield* cutNote(bag);
  }));
  return notes.filter((note) => note !== undefined);
}

function noteOf({ path, damage: { code, message } }: DamagedBag): ArchiveNotes {
  const lost = `${message}. Values of its key in this shard cannot be read`;
  return damageNotes(path, { code, message: lost });
}

/** Returns a note on records past the end of a truncated bag, which only a separate index can name. */
function* cutNote(bag: Bag): Steps<ArchiveNotes | undefined> {
  const { path, length, generation } = bag;
  const whole = generation === 3 ? yield* bag.countWhole() : length;
  if (whole === length) return undefined;
  const end = yield* bag.endByIndex(length - 1);
  const message =
    `Cannot read the last ${length - whole} of the ${length} records of ` +
    `${path}: ${pastEnd(end, bag)}`;
  return damageNotes(path, { code: "bad-index", message });
}
