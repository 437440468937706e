import { FormatError } from "../../../base/errors.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import {
  type ArchiveNotes,
  damageNotes,
} from "../../../tree/archive/archive_notes.ts";
import { Bag } from "./bag.ts";
import { pastEnd } from "./index_entries.ts";

/** A value that cannot be read since its bag is damaged. */
interface LostValue {
  readonly key: string;
  /** Number of its datapoint in the shard. */
  readonly datapoint: number;
  /** Number of its datapoint among those of all shards. */
  readonly sample: number;
  /** Directory of the shard. */
  readonly shard: string;
  /** Path of the value in the tree, where it is a file there. */
  readonly member?: string | undefined;
}

/**
 * Stands for the bag of a key that is damaged, in a shard whose other files say how many datapoints there are. It has
 * no records.
 */
export class DamagedBag extends Bag {
  /** The reason. */
  readonly damage: FormatError;

  constructor(path: string, generation: Generation, damage: FormatError) {
    super(generation, 0, 0, new MemorySource(new Uint8Array(0), path, 0));
    this.damage = damage;
  }

  /** The error of reading a value. */
  errorOf({ key, datapoint, sample, shard, member }: LostValue): FormatError {
    const { code, message } = this.damage;
    return new FormatError(
      code,
      `Cannot read '${key}' of datapoint ${datapoint} of ${shard} (datapoint ${sample} of all shards): ` +
        `its bag is damaged: ${message}`,
      { path: shard, sample, member, cause: this.damage },
    );
  }
}

/** How many records a bag may be referred to: of a damaged one, nobody knows. */
export function recordLimit(bag: Bag): number {
  return bag instanceof DamagedBag ? Infinity : bag.length;
}

/** What of bags cannot be read: all of one that is damaged, and the last records of one that was cut. */
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

/** Where the index lies beside a bag, it may name records that the bag was cut before. */
function* cutNote(bag: Bag): Steps<ArchiveNotes | undefined> {
  const { path, length, dataEnd, generation } = bag;
  const whole = generation === 3 ? yield* bag.countWhole() : length;
  if (whole === length) return undefined;
  const end = yield* bag.endByIndex(length - 1);
  const message = `${path}: ${pastEnd(end, dataEnd)}. ` +
    `The last ${length - whole} of its ${length} records cannot be read`;
  return damageNotes(path, { code: "bad-index", message });
}
