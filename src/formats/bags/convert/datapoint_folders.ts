import { UnfitError } from "../../../convert/conversion.ts";
import type { FileTree, TreeEntry } from "../../../convert/from/file_tree.ts";
import { byNumber } from "../../../convert/from/number_order.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import { shardName } from "../dataset/dataset_location.ts";
import { SHARD_NAME, SPEC_FILE } from "../dataset/dataset_names.ts";
import type { Spec, WrittenSpec } from "../dataset/spec.ts";
import type { Datapoint } from "../read/selection.ts";

interface FolderOptions extends WaitOptions {
  /** Types by key, if there is no `spec.json`. */
  readonly spec?: Spec | undefined;
}

interface Numbered {
  readonly directory: string;
  /** Paths in numeric order. */
  readonly paths: readonly string[];
  /** All other entries that are not hidden. */
  readonly others: readonly TreeEntry[];
}

/** Directories that are datapoints: `INDEX/KEY`, or `SHARD/INDEX/KEY`; a directory `KEY` is a list. */
export class DatapointFolders {
  /** Paths of the datapoints of each shard; a single list if there are no shards. */
  readonly shards: readonly (readonly string[])[];
  readonly isSharded: boolean;
  readonly specPath: string | undefined;
  /** Whether there is a `label2idx.json`, which came from GulpIO. */
  readonly hasLabels: boolean;
  /** Paths that are neither datapoints nor shards. */
  readonly strays: readonly string[];
  readonly #files: FileTree;
  readonly #options: FolderOptions;
  readonly #numbered: readonly Numbered[];
  #isStrict = false;

  private constructor(
    files: FileTree,
    root: Numbered,
    shards: readonly Numbered[],
    options: FolderOptions,
  ) {
    const all = shards[0] === root ? shards : [root, ...shards];
    const others = all.flatMap(({ others }) => others);
    this.#files = files;
    this.#options = options;
    this.isSharded = shards[0] !== root;
    this.shards = shards.map(({ paths }) => paths);
    this.specPath = others.find(isSpec)?.path;
    this.hasLabels = root.others.some(isLabels);
    this.strays = others
      .filter((entry) => !isSpec(entry) && !isLabels(entry))
      .map(({ path }) => path);
    this.#numbered = all;
  }

  static async find(
    files: FileTree,
    options: FolderOptions,
  ): Promise<DatapointFolders> {
    const root = await numbered(files, "", isDatapoint, options);
    const [first] = root.paths;
    if (first === undefined || root.others.some(isSpec)) {
      return new DatapointFolders(files, root, [root], options);
    }
    const { spec = {} } = options;
    const inFirst = await numbered(files, first, isDatapoint, options);
    const isSharded = inFirst.others.some(isSpec) ||
      inFirst.paths.some((path) => !Object.hasOwn(spec, nameOf(path)));
    if (!isSharded) return new DatapointFolders(files, root, [root], options);
    const shards = [inFirst];
    for (const shard of root.paths.slice(1)) {
      shards.push(await numbered(files, shard, isDatapoint, options));
    }
    return new DatapointFolders(files, root, shards, options);
  }

  /**
   * Requires files as `recordfs extract` writes them, including lists read later: numbered without a gap, and nothing
   * else. Otherwise numbers only determine the order.
   */
  requireComplete(): void {
    this.#isStrict = true;
    const [stray] = this.hasLabels ? [LABEL_FILE] : this.strays;
    if (stray !== undefined) throw strayError(this.#files, stray);
    for (const numbered of this.#numbered) requireEach(this.#files, numbered);
  }

  /**
   * Reads a datapoint. `value` returns the content of a file; for a list, it is called when the list is read. Throws an
   * `UnfitError` if the keys are not those of the spec, or a file is in place of a list, or the reverse.
   */
  async read(
    path: string,
    { keys }: WrittenSpec,
    value: (path: string, key: string) => SampleData | Promise<Uint8Array>,
  ): Promise<Datapoint> {
    const found = new Map<string, boolean>();
    for await (
      const { name, isDirectory } of this.#files.list(path, this.#options)
    ) found.set(name, isDirectory);
    const surplus = found.keys().find((name) =>
      !name.startsWith(".") && !keys.some(({ key }) => key === name)
    );
    if (surplus !== undefined) {
      throw new UnfitError(`the spec has no '${surplus}'`);
    }
    const datapoint: [string, unknown][] = [];
    for (const { key, type: { word, isList } } of keys) {
      const isDirectory = found.get(key);
      if (isDirectory === undefined) throw new UnfitError(`it has no '${key}'`);
      if (isDirectory !== isList) {
        throw new UnfitError(
          isList
            ? `its '${key}' is a file, and lists of type ${word}[] must be directories`
            : `its '${key}' is a directory, and its type ${word} is not a list`,
        );
      }
      const place = `${path}/${key}`;
      datapoint.push([
        key,
        isList ? await this.#list(place, key, value) : await value(place, key),
      ]);
    }
    return Object.fromEntries(datapoint); // safe for a file called `__proto__`
  }

  /** Returns the values of a list, read one at a time. */
  async #list(
    directory: string,
    key: string,
    value: (path: string, key: string) => SampleData | Promise<Uint8Array>,
  ): Promise<AsyncIterable<SampleData>> {
    const list = await numbered(
      this.#files,
      directory,
      ({ name }) => /^\d+$/.test(name),
      this.#options,
    );
    const [stray] = list.others;
    if (this.#isStrict) {
      if (stray !== undefined) throw strayError(this.#files, stray.path);
      requireEach(this.#files, list);
    } else if (stray !== undefined) {
      throw new UnfitError(
        `its '${key}' has '${stray.name}': the values of a list are 000000, 000001, ...`,
      );
    }
    return (async function* () {
      for (const path of list.paths) yield await value(path, key);
    })();
  }
}

function isDatapoint({ name, isDirectory }: TreeEntry): boolean {
  return isDirectory && SHARD_NAME.test(name);
}

async function numbered(
  files: FileTree,
  directory: string,
  isOne: (entry: TreeEntry) => boolean,
  options: WaitOptions,
): Promise<Numbered> {
  const paths: string[] = [];
  const others: TreeEntry[] = [];
  for await (const entry of files.list(directory, options)) {
    if (isOne(entry)) paths.push(entry.path);
    else if (!entry.name.startsWith(".")) others.push(entry); // hidden files may come from the desktop
  }
  paths.sort((a, b) => byNumber(nameOf(a), nameOf(b)));
  return { directory, paths, others };
}

/** Rejects gaps in the numbers, which may be files that were forgotten. */
function requireEach(
  { location }: FileTree,
  { directory, paths }: Numbered,
): void {
  const gap = paths.findIndex((path, i) => Number(nameOf(path)) !== i);
  if (gap < 0) return;
  const path = directory === "" ? location : `${location}/${directory}`;
  throw new RecordfsError(
    "missing-number",
    `Cannot convert ${path}: of its ${paths.length} numbered entries, ` +
      `${shardName(gap)} is missing: they must be numbered 000000, ` +
      "000001, ... without a gap",
    { path, expected: gap, actual: Number(nameOf(paths[gap]!)) },
  );
}

function strayError({ location }: FileTree, stray: string): RecordfsError {
  const path = `${location}/${stray}`;
  return new RecordfsError(
    "stray-file",
    `Cannot convert ${path}: it is neither a datapoint nor a value of ` +
      "a list: those are numbered 000000, 000001, ...",
    { path },
  );
}

function isSpec({ name, isDirectory }: TreeEntry): boolean {
  return name === SPEC_FILE && !isDirectory;
}

function isLabels({ path, isDirectory }: TreeEntry): boolean {
  return path === LABEL_FILE && !isDirectory;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
