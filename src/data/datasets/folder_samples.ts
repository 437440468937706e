import { RecordfsError } from "../../base/errors.ts";
import { decodeFile, SAMPLE_DECODERS } from "../../codecs/file_values.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
  valueType,
} from "../../codecs/values/value_type.ts";
import { decodeName, encodeName, sortNames } from "../../base/names.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../io/concurrency/event_loop.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { placesIn } from "../../io/read/read_memory.ts";
import { readSlices } from "../../io/read/read_slices.ts";
import type { ByteSource, WaitOptions } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "../../tree/samples/samples.ts";
import { ShardTable } from "../../tree/samples/shard_table.ts";
import { sharedBytes, sharedFloat64 } from "../../tree/shared_numbers.ts";
import type { ChooseFile } from "./choose_files.ts";

/** Files of a folder in class folders, in memory that threads share. */
interface FolderTable {
  /** The folder, an absolute path without a trailing slash. */
  readonly folder: string;
  /** Names of the class folders, sorted. */
  readonly classes: readonly string[];
  /** Paths from the folder, encoded, one after the other. */
  readonly names: Uint8Array;
  /** Per file, and once more: where its path starts in `names`. */
  readonly starts: Float64Array;
}

/** Deepest directory that is walked: links may lead in circles. */
const DEEPEST = 32;

const CLASS_TYPE = valueType("int", VALUE_TYPES.number, { scalar: "int" });
const FIELDS: readonly Field[] = [
  { name: "path", type: VALUE_TYPES.text, isList: false },
  { name: "content", type: VALUE_TYPES.bytes, isList: false },
  { name: "label", type: VALUE_TYPES.text, isList: false },
  { name: "class", type: CLASS_TYPE, isList: false },
];

/**
 * Pictures in class folders, `CLASS/…/NAME.jpg`, as samples: `path`, `content` (decoded by its extension), `label`, which
 * is the name of the class folder, and `class`, its index among the sorted names, as torchvision's `ImageFolder` counts.
 */
export class FolderSamples implements Samples<SampleValues, SampleValues> {
  readonly unit = "file";
  readonly fields = FIELDS;
  readonly stores = "fields";
  readonly shards: ShardTable;
  readonly storage: Storage;
  readonly #table: FolderTable;
  readonly #classes: ReadonlyMap<string, number>;

  constructor(table: FolderTable, storage: Storage) {
    this.#table = table;
    this.#classes = new Map(table.classes.map((name, i) => [name, i]));
    this.storage = storage;
    const length = table.starts.length - 1;
    this.shards = new ShardTable([{ path: table.folder }], () => length);
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<SampleValues[]> {
    const wants = (field: string) => fields?.includes(field) ?? true;
    const contents = wants("content")
      ? yield* this.#contents(indices, memory)
      : [];
    return indices.map((index, i) => {
      const path = this.keyOf(index);
      const label = path.slice(0, path.indexOf("/"));
      return {
        ...wants("path") ? { path } : {},
        ...wants("content") ? { content: contents[i]! } : {},
        ...wants("label") ? { label } : {},
        ...wants("class") ? { class: this.#classes.get(label)! } : {},
      };
    });
  }

  async decode(index: number, sample: SampleValues): Promise<SampleValues> {
    const { content } = sample;
    if (content === undefined) return sample;
    const path = this.keyOf(index);
    const decoded = await decodeFile(
      path.slice(path.lastIndexOf("/") + 1),
      content as Uint8Array<ArrayBuffer>,
      SAMPLE_DECODERS,
      this.#table.folder,
      `'${path}'`,
    );
    return { ...sample, content: decoded };
  }

  keyOf(index: number): string {
    const { names, starts } = this.#table;
    return decodeName(names, starts[index]!, starts[index + 1]!);
  }

  fileOf(index: number): string {
    return `${this.#table.folder}/${this.keyOf(index)}`;
  }

  /** Local files are not prefetched. */
  prefetch(): number {
    return 0;
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: this.#table };
  }

  close(): void {} // files are open only while they are read

  *#contents(
    indices: readonly number[],
    memory: ReadSamplesOptions["memory"],
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const sources: ByteSource[] = [];
    const { storage } = this;
    const open = function* (path: string, i: number): Steps<void> {
      sources[i] = yield* openFile(storage, path);
    };
    try {
      const paths = indices.map((index) => this.fileOf(index));
      yield* inParallel(paths.map((path, i) => open(path, i)));
      const slices = sources.map(({ size: length }, source) => ({
        source,
        offset: 0,
        length,
        checksumKind: undefined,
        checksum: 0,
      }));
      const places = memory && placesIn(memory, slices);
      return yield* readSlices(sources, slices, undefined, places);
    } finally {
      for (const source of sources) source?.close();
    }
  }
}

/** Makes the samples in another thread. */
// deno-lint-ignore require-yield
export function* reopenSamples(
  table: FolderTable,
  storage: Storage,
): Steps<FolderSamples> {
  return new FolderSamples(table, storage);
}

const NO_DIRECTORY: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP"];

/**
 * Lists the files of a local folder if they are pictures in class folders: none lies in the folder itself, and one at
 * least is a picture. Skips hidden ones.
 *
 * @returns `undefined` if they are not.
 */
export async function listClassFolder(
  folder: string,
  storage: Storage,
  isChosen: ChooseFile,
  { signal }: WaitOptions,
): Promise<FolderSamples | undefined> {
  const paths: string[] = [];
  const classes: string[] = [];
  let hasPictures = false;
  const listed = (path: string) =>
    runAsync(namesIn(folder, path, storage), signal);
  const walk = async (
    path: string,
    names: readonly string[],
    depth: number,
  ): Promise<boolean> => {
    while (shouldYield()) await yieldToEventLoop();
    for (const name of sortNames([...names])) {
      if (name.startsWith(".")) continue;
      const own = path === "" ? name : `${path}/${name}`;
      const within = await listed(own);
      const isDirectory = within !== undefined;
      if (!isDirectory && depth === 0) return false;
      const entry = { path: own, name, depth: depth + 1, isDirectory };
      const isWanted = isChosen(entry);
      if (isDirectory) {
        if (depth === 0) classes.push(name);
        const isWalked = depth < DEEPEST;
        if (isWalked && !await walk(own, within, depth + 1)) return false;
      } else if (isWanted) {
        paths.push(own);
        hasPictures ||= typeOfExtension(name).kind === "image";
      }
    }
    return true;
  };
  const isOfClasses = await walk("", await listed("") ?? [], 0);
  if (!isOfClasses || !hasPictures) return undefined;
  const encoded = paths.map(encodeName);
  const starts = sharedFloat64(paths.length + 1);
  for (const [i, name] of encoded.entries()) {
    starts[i + 1] = starts[i]! + name.length;
  }
  const names = sharedBytes(new Uint8Array(starts.at(-1)!));
  for (const [i, name] of encoded.entries()) names.set(name, starts[i]!);
  return new FolderSamples({ folder, classes, names, starts }, storage);
}

/** Returns the names in a directory; `undefined` for anything else, also for links that lead nowhere. */
function* namesIn(
  folder: string,
  path: string,
  storage: Storage,
): Steps<readonly string[] | undefined> {
  try {
    return yield* storage.list(path === "" ? folder : `${folder}/${path}`);
  } catch (error) {
    if (error instanceof RecordfsError && NO_DIRECTORY.includes(error.code)) {
      return undefined;
    }
    throw error;
  }
}
