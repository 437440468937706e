import { messageOf } from "../../../base/message_text.ts";
import { CheckRun } from "../../../tree/check/check_run.ts";
import { FormatError } from "../../../base/errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { CheckOptions, CheckReport } from "../../../tree/format.ts";
import { BEFORE } from "../../../tree/limits/limited_records.ts";
import type { Bag } from "../bag/bag.ts";
import { recordLimit } from "../bag/damaged_bag.ts";
import { openBag } from "../bag/open_bag.ts";
import { locateDataset } from "../dataset/dataset_location.ts";
import { ENTRY } from "../../../tree/limits/limit_entries.ts";
import { openShard, type Shard } from "../dataset/open_shard.ts";
import { decodersOf, largestValue } from "../types/shipped.ts";
import { longestReferences, References } from "../dataset/references.ts";

/** Bytes of references read at once; more if one record is longer. */
const WINDOW = 1 << 20;

/** Number of index entries read at once. */
const BATCH = 32 * 1024;

/**
 * Finds damage: in every index, whether it ascends, is whole and stays inside its bag; in all references, whether their
 * records exist; in generation 3, whether all keys have equally many records; with `values`, whether all can be
 * decoded.
 *
 * @param path Directory of a dataset or of its shards, or a bag.
 * @throws {FormatError} If it is none of these, or too damaged to be checked.
 */
export async function checkBags(
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const damages: FormatError[] = [];
  const emptyShard = (message: string) =>
    damages.push(new FormatError("missing-spec", message, { path }));
  const steps = locateDataset(run.storage, path, emptyShard);
  const location = await run.run(steps);
  return "bag" in location
    ? await checkOneBag(run, location.bag)
    : await checkDatasets(run, location.shards, damages);
}

async function checkOneBag(run: CheckRun, path: string): Promise<CheckReport> {
  const { storage } = run;
  const bag = await run.run(openBag(path, { storage }));
  try {
    run.total = bag.bytes;
    await new BagsCheck(run).index(bag);
    return reportOf(run, bag.length);
  } finally {
    bag.close();
  }
}

async function checkDatasets(
  run: CheckRun,
  paths: readonly string[],
  damages: FormatError[],
): Promise<CheckReport> {
  const { storage } = run;
  // Shards are opened twice: the total must be known first, and all at once may be too many.
  const sound: string[] = [];
  const ofSeveral = paths.length > 1;
  for (const path of paths) {
    try {
      const shard = await run.run(openShard(path, { storage, ofSeveral }));
      run.total += shard.bytes;
      shard.close();
      sound.push(path);
    } catch (error) {
      if (!(error instanceof FormatError) || !ofSeveral) throw error;
      damages.push(error);
    }
  }
  for (const damage of damages) run.damage(damage);
  const check = new BagsCheck(run);
  let samples = 0;
  for (const path of sound) {
    const shard = await run.run(openShard(path, { storage, ofSeveral }));
    try {
      for (const { damage } of shard.damaged) run.damage(damage);
      samples += shard.length;
      await check.shard(shard);
    } finally {
      shard.close();
    }
  }
  return reportOf(run, samples);
}

function reportOf(run: CheckRun, samples: number): CheckReport {
  run.advanceTo(run.total);
  const compares = run.options.values ? "contents" : "structure";
  return run.report({ samples, compares });
}

/** Called with each record that lies in its bag, and its limits. Errors that it throws are reported. */
type RecordCheck = (
  record: number,
  start: number,
  end: number,
) => void | Promise<void>;

class BagsCheck {
  readonly #run: CheckRun;

  constructor(run: CheckRun) {
    this.#run = run;
  }

  async shard(dataset: Shard): Promise<void> {
    if (dataset.generation === 3) {
      await this.#run.part(() => checkLengths(dataset));
    }
    await this.#run.part(() => checkBagsThere(dataset));
    for (const [k, bag] of dataset.bags.entries()) {
      const check = this.#run.options.values
        ? this.#decoding(bag, dataset, k)
        : undefined;
      await this.index(bag, check?.record);
      if (check === undefined || check.skipped === 0) continue;
      this.#run.warn(
        `${check.skipped} values of ${bag.path} were not decoded: they are ` +
          `larger than ${check.largest} bytes`,
      );
    }
    if (dataset.refs !== undefined) await this.#references(dataset);
  }

  async index(bag: Bag, each?: RecordCheck): Promise<void> {
    await this.#run.part(() => checkEntries(bag));
    await this.#scan(bag, each);
  }

  /** Returns a check that decodes the values of a key; `undefined` for custom types. */
  #decoding({ path, source }: Bag, { keys, generation }: Shard, key: number) {
    const { type } = keys[key]!;
    const decode = decodersOf(generation)[type.name];
    if (decode === undefined) return undefined;
    const run = this.#run;
    const check = {
      skipped: 0,
      largest: largestValue(type),
      async record(record: number, start: number, end: number) {
        if (end - start > check.largest) {
          check.skipped++;
          return;
        }
        const steps = readPart(source, start, end - start);
        const bytes = await run.run(steps);
        try {
          await decode(bytes, ...type.args);
        } catch (cause) {
          const why = messageOf(cause);
          throw new FormatError(
            "bad-value",
            `Cannot decode record ${record} of ${path}: ${why}`,
            { path, sample: record, cause },
          );
        }
      },
    };
    return check;
  }

  async #references({ keys, bags, refs }: Shard): Promise<void> {
    const { path } = refs!;
    const lengths = bags.map(recordLimit);
    const references = new References({ path, keys, lengths });
    const longest = longestReferences(keys.length) + 1;
    // Sliding window of the references' bytes.
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
      return this.#run.run(steps).then((bytes) => {
        windowStart = start;
        window = bytes;
        references.parse(record, bytes.subarray(0, length));
      });
    });
  }

  /** Reads a bag's whole index in parts, and reports damage. */
  async #scan(bag: Bag, each?: RecordCheck): Promise<void> {
    for (let first = 0; first < bag.length; first += BATCH) {
      const count = Math.min(BATCH, bag.length - first);
      const before = Math.min(first, BEFORE);
      const steps = bag.readEntries(first - before, before + count);
      const entries = await this.#run.run(steps);
      for (let i = 0; i < count; i++) {
        try {
          bag.take(first + i, entries, (before + i) * ENTRY);
          const checked = each?.(first + i, bag.start, bag.end);
          if (checked !== undefined) await checked;
        } catch (error) {
          this.#run.damage(error);
        }
      }
      this.#run.advance(count * ENTRY);
    }
    this.#run.advance(bag.bytes - bag.length * ENTRY);
  }
}

/** Rejects a dataset without bags. Readers take it for an empty one, since its writer may be about to create them. */
function checkBagsThere({ path, keys, bags }: Shard): void {
  if (bags.length > 0 || keys.length === 0) return;
  throw new FormatError(
    "missing-bag",
    `Cannot read ${path}: its bags are missing: they are lost, or its ` +
      "writer was killed while it made them. Download the dataset again, or open it " +
      "with the writer again, which makes it whole",
    { path },
  );
}

/** Rejects a truncated index entry. Readers ignore it, since a writer may be writing it. */
export function checkEntries({ path, source, index }: Bag): void {
  const surplus = index.size % ENTRY;
  if (index === source || surplus === 0) return;
  throw new FormatError(
    "unfinished",
    `Cannot read all of ${index.name}: the index is truncated: its last ` +
      `${surplus} bytes are not a whole entry. Its writer is running ` +
      "or was killed: open it with the writer again, which repairs it",
    { path, offset: index.size - surplus },
  );
}

export function checkLengths({ path, keys, bags, sound }: Shard): void {
  const least = sound.reduce(
    (least, { length }) => Math.min(least, length),
    Infinity,
  );
  const shortest = sound.find(({ length }) => length === least);
  const longest = bags.findIndex(({ length }) => length > least);
  if (longest < 0) return;
  throw new FormatError(
    "unfinished",
    `Cannot read all of ${path}: the keys have different numbers of ` +
      `records: '${keys[bags.indexOf(shortest!)]!.key}' has ${least}, ` +
      `'${keys[longest]!.key}' has ${bags[longest]!.length}. Its writer ` +
      "is at work or was killed: open it with the writer again, which makes it whole",
    { path, expected: least, actual: bags[longest]!.length },
  );
}
