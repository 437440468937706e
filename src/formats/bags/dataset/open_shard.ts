import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { openError } from "../../../io/storage/file_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { isShardDamage } from "../../../tree/samples/open_shards.ts";
import type { Bag } from "../bag/bag.ts";
import { DamagedBag } from "../bag/damaged_bag.ts";
import { openBag, type OpenBagOptions } from "../bag/open_bag.ts";
import {
  type Generation,
  REFS_KEY,
  SHARD_NAME,
  SPEC_FILE,
} from "./dataset_names.ts";
import { LARGEST_SPEC, parseSpec, type SpecKey } from "./spec.ts";
import { openFile } from "../../../io/storage/open_file.ts";

interface OpenShardOptions
  extends Pick<OpenBagOptions, "storage" | "generation" | "onWarning"> {
  /**
   * Whether it is one shard of several. A damaged bag is then replaced by a {@linkcode DamagedBag}, unless all are
   * damaged; otherwise it is an error. Defaults to `false`.
   */
  readonly ofSeveral?: boolean | undefined;
}

/** An opened dataset without shards, or one opened shard. */
export class Shard {
  readonly path: string;
  readonly storage: Storage;
  generation: Generation;
  /** Keys in the order of `spec.json`. */
  readonly keys: readonly SpecKey[];
  readonly spec: ByteSource;
  /**
   * References, in generations 1 and 2. Datasets of granular's commits 243d3bf and fb0e774, also numbered 0.22.0, have
   * bags of generation 2 and no references: record i of every key belongs to datapoint i, as in generation 3.
   */
  readonly refs: Bag | undefined;
  /** Bags by key index; a damaged one as a {@linkcode DamagedBag}. Empty if a writer was killed while creating them. */
  readonly bags: Bag[] = [];
  /** Number of complete datapoints. While bags are opened one by one, the number of references. */
  length: number;

  constructor(
    path: string,
    storage: Storage,
    generation: Generation,
    keys: readonly SpecKey[],
    spec: ByteSource,
    refs: Bag | undefined,
  ) {
    this.path = path;
    this.storage = storage;
    this.generation = generation;
    this.keys = keys;
    this.spec = spec;
    this.refs = refs;
    this.length = refs?.length ?? 0;
  }

  get files(): readonly ByteSource[] {
    const files = new Set([this.spec]);
    for (const bag of [this.refs, ...this.bags]) {
      if (bag !== undefined) files.add(bag.source).add(bag.index);
    }
    return [...files];
  }

  get damaged(): readonly DamagedBag[] {
    return this.bags.filter((bag) => bag instanceof DamagedBag);
  }

  get sound(): readonly Bag[] {
    return this.bags.filter((bag) => !(bag instanceof DamagedBag));
  }

  /** Whether a datapoint has several readable values of a key. */
  isList(key: number): boolean {
    const isDamaged = this.bags[key] instanceof DamagedBag;
    return !isDamaged && this.keys[key]!.type.isList;
  }

  get bytes(): number {
    return this.files.reduce((sum, { size }) => sum + size, 0);
  }

  /** Opens the bag of a key. Its content distinguishes generations 1 and 2. */
  *openBag(key: number, options: OpenShardOptions = {}): Steps<Bag> {
    const { storage, path, generation } = this;
    const form = generation === 3
      ? { generation }
      : { generation: options.generation, isTrailed: true };
    const { onWarning } = options;
    const bag = `${path}/${this.keys[key]!.key}.bag`;
    return yield* openBag(bag, { ...form, storage, onWarning });
  }

  close(): void {
    this.spec.close();
    for (const bag of [this.refs, ...this.bags]) bag?.close();
  }
}

/**
 * Opens a dataset without shards, or one shard, by its directory without a trailing slash. Reads only the ends of its
 * indexes. Throws a `FormatError` if a file is missing or damaged.
 */
export function* openShard(
  path: string,
  options: OpenShardOptions = {},
): Steps<Shard> {
  const { storage = LOCAL_DISK, generation, onWarning } = options;
  const names = yield* listDirectory(storage, path);
  if (!names.has(SPEC_FILE)) throw missingSpec(path, names);
  if (names.has(`${REFS_KEY}-00000.bag`)) throw inParts(path);
  const hasRefs = names.has(`${REFS_KEY}.bag`);
  // A dataset of generation 3 may have a key `refs`, with an index like any other.
  const wantsRefs = generation === undefined
    ? hasRefs && !names.has(`${REFS_KEY}.idx`)
    : generation < 3;
  if (wantsRefs && !hasRefs && generation !== 2) {
    throw missingBag(path, REFS_KEY, "which holds the references");
  }
  const form = wantsRefs ? generation : 3;
  const shard = yield* openHead(path, form, wantsRefs && hasRefs, options);
  try {
    const found = wantsRefs ? "written" : yield* lookFor(shard, names);
    if (found === "unwritten") {
      onWarning?.(
        `${path}: there is no datapoint yet: its bags are missing: its ` +
          "writer was killed while it made them, or they are lost",
      );
    } else if (
      wantsRefs && !hasRefs ||
      found === "unindexed" && generation === undefined
    ) {
      yield* openRefless(shard, names, options);
    } else {
      yield* openBags(shard, names, options);
      if (wantsRefs) requireReferences(shard);
      else shard.length = completeLength(shard, options);
    }
    return shard;
  } catch (error) {
    shard.close();
    throw error;
  }
}

/**
 * Opens a dataset as granular's commits 243d3bf and fb0e774 wrote it: bags of generation 2 with equally many records,
 * no references and no lists. Any other dataset has lost its references (generation 1 or 2) or its indexes (generation
 * 3).
 */
function* openRefless(
  shard: Shard,
  names: ReadonlySet<string>,
  { onWarning, ofSeveral }: OpenShardOptions,
): Steps<void> {
  const { path, keys } = shard;
  shard.generation = 2;
  try {
    yield* openBags(shard, names, { onWarning, ofSeveral });
  } catch (error) {
    const isOfBag = error instanceof FormatError &&
      error.code !== "missing-bag";
    throw isOfBag ? missingReferences(path, error) : error;
  }
  const { damaged: [damaged], sound } = shard;
  shard.length = sound[0]?.length ?? 0;
  const isSound = keys.every(({ type }) => !type.word.endsWith("[]")) &&
    sound.every((bag) => bag.generation === 2 && bag.length === shard.length) &&
    (damaged === undefined || shard.length > 0); // a bag without records is an empty file, and so is not damaged
  if (!isSound) throw missingReferences(path, damaged?.damage);
}

function* openBags(
  shard: Shard,
  names: ReadonlySet<string>,
  options: OpenShardOptions,
): Steps<void> {
  const { path, keys, bags, generation } = shard;
  for (const [k, { key }] of keys.entries()) {
    try {
      if (!names.has(`${key}.bag`)) {
        throw missingBag(path, key, `which ${SPEC_FILE} names`);
      }
      bags[k] = yield* shard.openBag(k, options);
    } catch (error) {
      if (!options.ofSeveral || !isShardDamage(error)) throw error;
      bags[k] = new DamagedBag(`${path}/${key}.bag`, generation, error);
    }
  }
  const { damaged } = shard;
  if (damaged.length > 0 && damaged.length === bags.length) {
    throw damaged[0]!.damage;
  }
}

export function* listDirectory(
  storage: Storage,
  path: string,
): Steps<ReadonlySet<string>> {
  const names = yield* storage.list(path);
  if (names !== undefined) return new Set(names);
  throw openError(path, { code: "ENOTDIR" });
}

/** Opens everything of a dataset except the bags of its keys. Without a `generation`, detects 1 or 2. */
export function* openHead(
  path: string,
  generation: Generation | undefined,
  hasRefs: boolean,
  { storage = LOCAL_DISK, onWarning }: OpenShardOptions,
): Steps<Shard> {
  const spec = yield* openFile(storage, `${path}/${SPEC_FILE}`);
  let refs: Bag | undefined;
  try {
    if (hasRefs) {
      const options = { storage, generation, onWarning };
      refs = yield* openBag(`${path}/${REFS_KEY}.bag`, options);
    }
    const keys = yield* readSpec(spec, hasRefs);
    const form = refs?.generation ?? generation ?? 2;
    return new Shard(path, storage, form, keys, spec, refs);
  } catch (error) {
    spec.close();
    refs?.close();
    throw error;
  }
}

/**
 * Rejects an empty `refs.bag` next to bags with data. If a bag of generation 2 has no bytes, it is empty, and then all
 * keys' bags are; an empty bag of generation 1 has 8 bytes.
 */
function requireReferences({ keys, bags, refs }: Shard): void {
  const other = bags.findIndex(({ source }) => source.size > 0);
  if (refs!.source.size > 0 || other < 0) return;
  throw new FormatError(
    "truncated",
    `Cannot read ${refs!.path}: it is empty, while the bag of ` +
      `'${keys[other]!.key}' is not: the references of all datapoints are ` +
      "lost. Download the dataset again",
    { path: refs!.path },
  );
}

/**
 * State of a dataset without references: generation 3; unwritten, its writer having been killed while it created the
 * files, so that some are missing and the others empty; or without any `.idx`.
 */
type Found = "written" | "unwritten" | "unindexed";

function* lookFor(
  { path, keys, storage }: Shard,
  names: ReadonlySet<string>,
): Steps<Found> {
  const hasIndex = ({ key }: SpecKey) => names.has(`${key}.idx`);
  if (keys.every(hasIndex)) return "written";
  for (const { key } of keys) {
    for (const name of [`${key}.bag`, `${key}.idx`]) {
      if (!names.has(name)) continue;
      const file = yield* openFile(storage, `${path}/${name}`, {
        mayGrow: true,
      });
      file.close();
      if (file.size > 0) return keys.some(hasIndex) ? "written" : "unindexed";
    }
  }
  return "unwritten";
}

export function* readSpec(
  spec: ByteSource,
  hasRefs: boolean,
): Steps<SpecKey[]> {
  const { name: path, size } = spec;
  if (size > LARGEST_SPEC) {
    throw new FormatError(
      "bad-spec",
      `Cannot read ${path}: it has ${size} bytes, more than the limit of ` +
        `${LARGEST_SPEC} for a specification`,
      { path, expected: LARGEST_SPEC, actual: size },
    );
  }
  return parseSpec(yield* readPart(spec, 0, size), path, hasRefs);
}

/** Counts the complete datapoints. A generation-3 writer may be between the keys of one, or was killed there. */
function completeLength(
  { path, keys, bags, sound }: Shard,
  { onWarning, ofSeveral }: OpenShardOptions,
): number {
  const length = sound.reduce(
    (least, bag) => Math.min(least, bag.length),
    sound[0]?.length ?? 0,
  );
  const ahead = keys.filter((_, k) => bags[k]!.length > length)
    .map(({ key }) => `'${key}'`);
  if (ahead.length > 0) {
    onWarning?.(
      `${path}: only ${length} datapoints are complete: there are more records of ` +
        `${ahead.join(", ")}, since its writer is at work, or was killed` +
        (ofSeveral
          ? ", or an index was cut: then datapoints of later shards have other numbers"
          : ""),
    );
  }
  return length;
}

function missingSpec(
  directory: string,
  names: ReadonlySet<string>,
): FormatError {
  const path = `${directory}/${SPEC_FILE}`;
  const isSharded = [...names].some((name) => SHARD_NAME.test(name));
  const why = isSharded
    ? "this is a sharded dataset. Open it with ShardedDatasetReader"
    : "this is not a dataset, or its writer was closed before it had a datapoint";
  return new FormatError(
    "missing-spec",
    `Cannot open ${directory}: ${SPEC_FILE} is missing: ${why}`,
    { path },
  );
}

function missingReferences(path: string, cause?: unknown): FormatError {
  return new FormatError(
    "missing-bag",
    `Cannot open ${path}: ${REFS_KEY}.bag is missing, which holds the ` +
      "references in generations 1 and 2, and so are the .idx files of generation 3. " +
      "(Granular's commits numbered 0.22.0 before 0.22.0a1 had neither, but then every " +
      "bag has its index at its end, and as many records as the others.) Download the " +
      "dataset again",
    { path: `${path}/${REFS_KEY}.bag`, cause },
  );
}

function inParts(path: string): FormatError {
  return new FormatError(
    "unknown-format",
    `Cannot open ${path}: it was written by bags 0.2 to 0.4, whose bags ` +
      `are in parts (${REFS_KEY}-00000.bag), which is unsupported. Read ` +
      "it with bags 0.4.0 (commit 5c8c6d6 of danijar/granular), and write it with a " +
      "later version",
    { path },
  );
}

function missingBag(path: string, key: string, what: string): FormatError {
  return new FormatError(
    "missing-bag",
    `Cannot open ${path}: ${key}.bag is missing, ${what}. Download the ` +
      "dataset again",
    { path: `${path}/${key}.bag` },
  );
}
