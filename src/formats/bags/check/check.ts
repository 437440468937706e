import { FormatError } from "../../../base/errors.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { CheckOptions, CheckReport } from "../../../tree/format.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { type Bag, BEFORE } from "../bag/bag.ts";
import { openBag } from "../bag/open_bag.ts";
import { locateDataset } from "../dataset/dataset_location.ts";
import { ENTRY } from "../bag/index_entries.ts";
import { openShard, type Shard } from "../dataset/open_shard.ts";
import { decodersOf, largestValue } from "../types/shipped.ts";
import { longestReferences, References } from "../dataset/references.ts";

/** Most bytes of references that are read at a time. */
const WINDOW = 1 << 20;

/** Entries of an index that are read at a time. */
const BATCH = 32 * 1024;

/**
 * Looks for damage: in every index, whether it ascends, is whole and stays inside its bag; in all references,
 * whether there are such records; in generation 3, whether all keys have as many records; and where
 * that is asked for, in all values, whether they can be decoded.
 *
 * @param path A dataset's directory, that of its shards, or a bag.
 * @throws {FormatError} If it is none, or damaged so that nothing can be checked.
 */
export async function checkBags(
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const { signal, storage = LOCAL_DISK } = options;
  const damages: FormatError[] = [];
  const emptyShard = (message: string) =>
    damages.push(new FormatError("missing-spec", message, { path }));
  const steps = locateDataset(storage, path, emptyShard);
  const location = await runAsync(steps, signal);
  return "bag" in location
    ? await checkOneBag(location.bag, options)
    : await checkDatasets(location.shards, options, damages);
}

async function checkOneBag(
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const { storage, signal } = options;
  const bag = await runAsync(openBag(path, { storage }), signal);
  try {
    const check = new Check(options, bag.bytes);
    await check.index(bag);
    return check.report(bag.length);
  } finally {
    bag.close();
  }
}

/** @param damages What is known already. */
async function checkDatasets(
  paths: readonly string[],
  options: CheckOptions,
  damages: FormatError[],
): Promise<CheckReport> {
  const { signal, storage } = options;
  // Opened twice: how much there is to do has to be known first, and all at once may be too many.
  const sound: string[] = [];
  let bytes = 0;
  for (const path of paths) {
    try {
      const shard = await runAsync(openShard(path, { storage }), signal);
      bytes += shard.bytes;
      shard.close();
      sound.push(path);
    } catch (error) {
      if (!(error instanceof FormatError) || paths.length === 1) throw error;
      damages.push(error);
    }
  }
  const check = new Check(options, bytes);
  for (const damage of damages) check.damage(damage);
  let samples = 0;
  for (const path of sound) {
    const shard = await runAsync(openShard(path, { storage }), signal);
    try {
      samples += shard.length;
      await check.shard(shard);
    } finally {
      shard.close();
    }
  }
  return check.report(samples);
}

/** Called with each record that lies in its bag, and where; what it throws is reported. */
type RecordCheck = (
  record: number,
  start: number,
  end: number,
) => void | Promise<void>;

class Check {
  readonly #options: CheckOptions;
  readonly #total: number;
  #done = 0;
  #damaged = 0;

  /** @param total Bytes of all files. */
  constructor(options: CheckOptions, total: number) {
    this.#options = options;
    this.#total = total;
  }

  report(samples: number): CheckReport {
    this.#options.onProgress?.(this.#total, this.#total);
    const compares = this.#options.values ? "contents" : "structure";
    return {
      samples,
      bytes: this.#total,
      damaged: this.#damaged,
      compares,
    };
  }

  /** Reports damage, after which the check goes on; anything else ends it. */
  damage(error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.#damaged++;
    this.#options.onDamage(error);
  }

  async shard(dataset: Shard): Promise<void> {
    if (dataset.generation === 3) this.#guard(() => checkLengths(dataset));
    this.#guard(() => checkBagsThere(dataset));
    for (const [k, bag] of dataset.bags.entries()) {
      const check = this.#options.values
        ? this.#decoding(bag, dataset, k)
        : undefined;
      await this.index(bag, check?.record);
      if (check === undefined || check.skipped === 0) continue;
      (this.#options.onWarning ?? warnOnConsole)(
        `${bag.path}: ${check.skipped} of its values were not decoded: they are larger than ` +
          `${check.largest} bytes`,
      );
    }
    if (dataset.refs !== undefined) await this.#references(dataset);
  }

  /** Checks the limits of every record, and what is there by `each`. */
  async index(bag: Bag, each?: RecordCheck): Promise<void> {
    this.#guard(() => checkEntries(bag));
    await this.#scan(bag, each);
  }

  /** Decodes values of a key, and throws them away; `undefined` for types of the user's own. */
  #decoding({ path, source }: Bag, { keys, generation }: Shard, key: number) {
    const { type } = keys[key]!;
    const decode = decodersOf(generation)[type.name];
    if (decode === undefined) return undefined;
    const { signal } = this.#options;
    const check = {
      /** The number of values that were too large to be decoded. */
      skipped: 0,
      largest: largestValue(type),
      async record(record: number, start: number, end: number) {
        if (end - start > check.largest) {
          check.skipped++;
          return;
        }
        const steps = readPart(source, start, end - start);
        const bytes = await runAsync(steps, signal);
        try {
          await decode(bytes, ...type.args);
        } catch (cause) {
          const why = cause instanceof Error ? cause.message : String(cause);
          throw new FormatError(
            "bad-value",
            `${path}, record ${record}: ${why}`,
            { path, sample: record, cause },
          );
        }
      },
    };
    return check;
  }

  async #references({ keys, bags, refs }: Shard): Promise<void> {
    const { path } = refs!;
    const lengths = bags.map(({ length }) => length);
    const references = new References({ path, keys, lengths });
    const longest = longestReferences(keys.length) + 1;
    // A part of the records in memory, that moves on.
    let windowStart = 0;
    let window = new Uint8Array(0);
    await this.#scan(refs!, (record, start, end) => {
      const length = Math.min(end - start, longest);
      const from = start - windowStart;
      if (from >= 0 && from + length <= window.length) {
        const bytes = window.subarray(from, from + length);
        return references.parse(record, bytes);
      }
      const size = Math.min(Math.max(WINDOW, length), refs!.dataEnd - start);
      const steps = readPart(refs!.source, start, size);
      return runAsync(steps, this.#options.signal).then((bytes) => {
        windowStart = start;
        window = bytes;
        references.parse(record, bytes.subarray(0, length));
      });
    });
  }

  /** Reads a bag's whole index, part by part, and reports what of it is damaged. */
  async #scan(bag: Bag, each?: RecordCheck): Promise<void> {
    for (let first = 0; first < bag.length; first += BATCH) {
      const count = Math.min(BATCH, bag.length - first);
      const before = Math.min(first, BEFORE);
      const steps = bag.readEntries(first - before, before + count);
      const entries = await runAsync(steps, this.#options.signal);
      for (let i = 0; i < count; i++) {
        try {
          bag.take(first + i, entries, (before + i) * ENTRY);
          const checked = each?.(first + i, bag.start, bag.end);
          if (checked !== undefined) await checked;
        } catch (error) {
          this.damage(error);
        }
      }
      this.#advance(count * ENTRY);
    }
    this.#advance(bag.bytes - bag.length * ENTRY);
  }

  #guard(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.damage(error);
    }
  }

  #advance(bytes: number): void {
    this.#done += bytes;
    this.#options.onProgress?.(Math.min(this.#done, this.#total), this.#total);
  }
}

/** A reader takes a dataset without bags for an empty one: its writer may be about to make them. */
function checkBagsThere({ path, keys, bags }: Shard): void {
  if (bags.length > 0 || keys.length === 0) return;
  throw new FormatError(
    "missing-bag",
    `${path}: its bags are missing: they are lost, or its writer was killed while it made them; fetch the dataset ` +
      "again, or open it with the writer again, which makes it whole",
    { path },
  );
}

/** A reader takes no notice of an entry that is cut: its writer may be writing it. */
export function checkEntries({ path, source, index }: Bag): void {
  const surplus = index.size % ENTRY;
  if (index === source || surplus === 0) return;
  throw new FormatError(
    "unfinished",
    `${index.name}: the index is cut: its last ${surplus} bytes are no whole entry. Its writer is at ` +
      "work or was killed; opening it with the writer again makes it whole",
    { path, offset: index.size - surplus },
  );
}

export function checkLengths({ path, keys, bags }: Shard): void {
  const lengths = bags.map(({ length }) => length);
  const least = lengths.reduce((a, b) => Math.min(a, b), Infinity);
  const longest = lengths.findIndex((length) => length > least);
  if (longest < 0) return;
  throw new FormatError(
    "unfinished",
    `${path}: the keys have different numbers of records: '${
      keys[lengths.indexOf(least)]!.key
    }' has ${least}, '${keys[longest]!.key}' has ${
      lengths[longest]
    }. Its writer is at work or was ` +
      "killed; opening it with the writer again makes it whole",
    { path, expected: least, actual: lengths[longest] },
  );
}
