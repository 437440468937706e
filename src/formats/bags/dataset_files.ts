import { FormatError } from "../../errors.ts";
import { FileSource, openError } from "../../io/file_source.ts";
import { readDirectory } from "../../io/read_directory.ts";
import { readPart } from "../../io/read_part.ts";
import { perform, type Steps } from "../../io/steps.ts";
import { indexPath } from "./bag_file.ts";
import { BagRecords } from "./bag_records.ts";
import type { Generation } from "./generation.ts";
import { unknownKey } from "./selection.ts";
import { REFS_KEY, SHARD_NAME, SPEC_FILE } from "./dataset_names.ts";
import { LARGEST_SPEC, parseSpec, type SpecKey } from "./spec.ts";

/** Which bags of a dataset are opened, and how. */
export interface DatasetFilesOptions {
  readonly generation?: Generation | undefined;
  readonly cacheIndex: boolean;
  /** Keys whose bags are held in memory. */
  readonly cacheKeys: readonly string[];
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The opened files of a dataset. */
export interface DatasetFiles {
  /** The dataset's directory. */
  readonly path: string;
  readonly generation: Generation;
  /** In the order of `spec.json`. */
  readonly keys: readonly SpecKey[];
  /** The bag of each key; none where no datapoint was written and bags are missing. */
  readonly bags: readonly BagRecords[];
  /** `refs.bag`, in generations 1 and 2. */
  readonly refs: BagRecords | undefined;
  /** How many datapoints there are. */
  readonly length: number;
}

/** Closes what {@linkcode openDatasetFiles} opened. */
export function closeDatasetFiles({ bags, refs }: DatasetFiles): void {
  for (const bag of bags) bag.close();
  refs?.close();
}

/**
 * Opens the files of a dataset.
 *
 * @param path Its directory, without a slash at the end.
 * @throws {FormatError} If a file is missing or damaged.
 */
export function* openDatasetFiles(
  path: string,
  options: DatasetFilesOptions,
): Steps<DatasetFiles> {
  const names = yield* listDirectory(path);
  const hasRefs = options.generation === undefined
    ? names.has(`${REFS_KEY}.bag`) && !names.has(`${REFS_KEY}.idx`)
    : options.generation < 3;
  const keys = yield* readSpec(path, names, hasRefs);
  for (const key of options.cacheKeys) {
    const isKey = keys.some((known) => known.key === key);
    if (!isKey && !(hasRefs && key === REFS_KEY)) {
      throw unknownKey({ path, keys }, key);
    }
  }
  const opening = new Opening(path, names, options);
  try {
    return hasRefs
      ? yield* opening.withReferences(keys)
      : yield* opening.withoutReferences(keys);
  } catch (error) {
    opening.close();
    throw error;
  }
}

/** The names in a dataset's directory. */
export function* listDirectory(path: string): Steps<ReadonlySet<string>> {
  const names = yield* perform(readDirectory(path));
  if (names !== undefined) return new Set(names);
  throw openError(path, { code: "ENOTDIR" });
}

function* readSpec(
  directory: string,
  names: ReadonlySet<string>,
  hasRefs: boolean,
): Steps<SpecKey[]> {
  const path = `${directory}/${SPEC_FILE}`;
  if (!names.has(SPEC_FILE)) {
    const isSharded = [...names].some((name) => SHARD_NAME.test(name));
    const why = isSharded
      ? "this is a sharded dataset: open it with ShardedDatasetReader"
      : "this is no dataset, or its writer was closed before it had a datapoint";
    throw new FormatError("missing-spec", `${path} is missing: ${why}`, {
      path,
    });
  }
  const source = yield* FileSource.open(path);
  try {
    if (source.size > LARGEST_SPEC) {
      throw new FormatError(
        "bad-spec",
        `${path} has ${source.size} bytes: a spec has at most ${LARGEST_SPEC}`,
        { path, expected: LARGEST_SPEC, actual: source.size },
      );
    }
    const bytes = yield* readPart(source, 0, source.size);
    return parseSpec(bytes, path, hasRefs);
  } finally {
    source.close();
  }
}

/** A dataset whose bags are being opened. */
class Opening {
  readonly #path: string;
  readonly #names: ReadonlySet<string>;
  readonly #options: DatasetFilesOptions;
  readonly #opened: BagRecords[] = [];

  constructor(
    path: string,
    names: ReadonlySet<string>,
    options: DatasetFilesOptions,
  ) {
    this.#path = path;
    this.#names = names;
    this.#options = options;
  }

  close(): void {
    for (const bag of this.#opened.splice(0)) bag.close();
  }

  /** Generations 1 and 2. */
  *withReferences(keys: readonly SpecKey[]): Steps<DatasetFiles> {
    this.#require(`${REFS_KEY}.bag`, ": generations 1 and 2 need it");
    const refs = yield* this.#open(REFS_KEY);
    const bags: BagRecords[] = [];
    for (const { key } of keys) {
      this.#require(`${key}.bag`);
      bags.push(yield* this.#open(key));
    }
    const { generation } = refs.bag;
    const { length } = refs;
    return { path: this.#path, generation, keys, bags, refs, length };
  }

  /** Generation 3: what a killed writer leaves is a dataset as well. */
  *withoutReferences(keys: readonly SpecKey[]): Steps<DatasetFiles> {
    const isMade = ({ key }: SpecKey) => this.#names.has(`${key}.idx`);
    const bags: BagRecords[] = [];
    for (const { key } of keys.filter(isMade)) {
      this.#require(`${key}.bag`);
      bags.push(yield* this.#open(key, 3));
    }
    const missing = keys.filter((key) => !isMade(key));
    const path = this.#path;
    if (missing.length > 0) {
      yield* this.#requireUnused(missing, bags);
      this.close();
      return {
        path,
        generation: 3,
        keys,
        bags: [],
        refs: undefined,
        length: 0,
      };
    }
    const length = bags.reduce(
      (least, bag) => Math.min(least, bag.length),
      bags[0]?.length ?? 0,
    );
    this.#warnOfMore(keys, bags, length);
    return { path, generation: 3, keys, bags, refs: undefined, length };
  }

  *#open(
    key: string,
    generation = this.#options.generation,
  ): Steps<BagRecords> {
    const bag = yield* BagRecords.open(`${this.#path}/${key}.bag`, {
      generation,
      cacheIndex: this.#options.cacheIndex,
      cacheData: this.#options.cacheKeys.includes(key),
      onWarning: this.#options.onWarning,
    });
    this.#opened.push(bag);
    return bag;
  }

  #require(name: string, why = ""): void {
    if (this.#names.has(name)) return;
    const path = `${this.#path}/${name}`;
    throw new FormatError("missing-bag", `${path} is missing${why}`, { path });
  }

  /**
   * Some keys have no index, since a writer was killed while it made its files: then no file has
   * anything in it.
   */
  *#requireUnused(
    missing: readonly SpecKey[],
    bags: readonly BagRecords[],
  ): Steps<void> {
    for (const { key } of missing) {
      const name = `${key}.bag`;
      const isNew = !this.#names.has(name) ||
        (yield* sizeOf(`${this.#path}/${name}`)) === 0;
      if (isNew && bags.every(({ length }) => length === 0)) continue;
      if (bags.length === 0 && this.#options.generation !== 3) {
        this.#require(
          `${REFS_KEY}.bag`,
          ", which generations 1 and 2 need, and so are the .idx files of generation 3",
        );
      }
      this.#require(name);
      const path = `${this.#path}/${name}`;
      throw new FormatError(
        "missing-index",
        `${path} has no index: ${indexPath(path)} is missing`,
        { path, expected: indexPath(path) },
      );
    }
    this.#options.onWarning?.(
      `${this.#path}: there is no datapoint yet: its writer was killed while it made the files`,
    );
  }

  #warnOfMore(
    keys: readonly SpecKey[],
    bags: readonly BagRecords[],
    length: number,
  ): void {
    const ahead = keys.filter((_, i) => bags[i]!.length > length)
      .map(({ key }) => `'${key}'`);
    if (ahead.length === 0) return;
    this.#options.onWarning?.(
      `${this.#path}: only ${length} datapoints are complete: there are more records of ` +
        `${ahead.join(", ")}, since its writer is at work, or was killed`,
    );
  }
}

function* sizeOf(path: string): Steps<number> {
  const source = yield* FileSource.open(path, { mayGrow: true });
  source.close();
  return source.size;
}
