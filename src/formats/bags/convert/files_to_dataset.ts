import type { Datapoint } from "../read/selection.ts";
import {
  type Generation,
  SHARD_NAME,
  SPEC_FILE,
} from "../dataset/dataset_names.ts";
import {
  parseSpec,
  specOf,
  type WrittenSpec,
  writtenSpec,
} from "../dataset/spec.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { FileTree, TreeEntry } from "../../../convert/from/file_tree.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";
import { byNumber } from "../../../convert/from/number_order.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";

/** The layout of files that are a dataset. */
interface Layout {
  /** The directories of shards; just the root where there are none. */
  readonly shards: readonly string[];
  /** There are directories of datapoints or shards. */
  readonly hasDirectories: boolean;
  /** Entries that are neither datapoints nor shards. */
  readonly strays: readonly string[];
  /** Where the types are said. */
  readonly specPath: string | undefined;
  /** There is a `label2idx.json`, which came along from GulpIO. */
  readonly hasLabels: boolean;
}

/**
 * Files `INDEX/KEY` with a `spec.json`, or `SHARD/INDEX/KEY`, to a dataset; a directory `KEY` is a list.
 * The bytes are kept: they must be what the types of that generation have.
 */
export async function filesToDataset(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3 } = options;
  const files = await source.files();
  const layout = await findLayout(files, options);
  const spec = await specFor(source, files, layout, options);
  requireDatapoints(source, layout);
  const written = writtenSpec(spec, generation, target);
  const notes = new PlanNotes();
  notes.kept.push(
    `values as bytes, which are taken for those of generation ${generation}`,
  );
  notes.changed.push(
    "directories INDEX are datapoints, in the order of numbers",
  );
  const labels = layout.hasLabels
    ? await files.read(LABEL_FILE, options)
    : undefined;
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  if (layout.strays.length > 0) {
    const { strays } = layout;
    notes.lost.push(
      `what is no datapoint: ${strays.slice(0, 3).join(", ")}` +
        (strays.length > 3 ? ` and ${strays.length - 3} more` : ""),
    );
  }
  return datasetConversion(source, target, options, {
    spec,
    isSharded: layout.shards[0] !== "",
    labels,
    notes,
    unit: "datapoints",
    total: undefined,
    async fill(dataset) {
      for (const shard of layout.shards) {
        await dataset.startShard();
        const paths = await numbered(
          files,
          shard,
          options,
          isNumberedDirectory,
        );
        for (const path of paths) {
          await dataset.append(
            `${files.location}/${path}`,
            () => readFiles(files, path, written, generation, options),
          );
        }
      }
    },
  });
}

async function findLayout(
  files: FileTree,
  options: ConvertOptions,
): Promise<Layout> {
  const directories: string[] = [];
  const strays: string[] = [];
  let specPath: string | undefined;
  let hasLabels = false;
  for await (const entry of files.list("", options)) {
    const { path, name, isDirectory } = entry;
    if (isNumberedDirectory(entry)) directories.push(path);
    else if (path === SPEC_FILE && !isDirectory) specPath = path;
    else if (path === LABEL_FILE && !isDirectory) hasLabels = true;
    else if (!name.startsWith(".")) strays.push(path); // or of the desktop
  }
  let shards = [""];
  const [first] = directories.sort(byNumber);
  if (specPath === undefined && first !== undefined) {
    for await (
      const { path, name, isDirectory } of files.list(first, options)
    ) {
      if (isDirectory || name !== SPEC_FILE) continue;
      shards = directories;
      specPath = path;
    }
  }
  const hasDirectories = first !== undefined;
  return { shards, hasDirectories, strays, specPath, hasLabels };
}

/** An empty dataset has no datapoints, and nothing else. */
function requireDatapoints(
  { path }: ConversionSource,
  { hasDirectories, strays }: Layout,
): void {
  if (hasDirectories || strays.length === 0) return;
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path} to Bags: it has no directories 000000, 000001 and so on, which are the ` +
      `datapoints, but ${
        strays.slice(0, 3).join(", ")
      }; the files are 000000/KEY, 000001/KEY and so on`,
    path,
  );
}

async function specFor(
  { path }: ConversionSource,
  files: FileTree,
  { specPath }: Layout,
  { spec, generation = 3, ...options }: ConvertOptions,
) {
  if (spec !== undefined) return spec;
  if (specPath === undefined) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path} to Bags: it has no ${SPEC_FILE}, which says the types of keys; ` +
        "give them by the option `spec`. The files are 000000/KEY, 000001/KEY and so on",
      path,
    );
  }
  const bytes = await files.read(specPath, options);
  const keys = parseSpec(bytes, `${path}/${specPath}`, generation !== 3);
  const list = keys.find(({ type }) =>
    generation === 3 && type.word.endsWith("[]")
  );
  if (list === undefined) return specOf(keys);
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path} to Bags of generation 3: '${list.key}' is a list, ` +
      `${list.type.word}, and generation 3 has none; convert it to generation 2, and that to 3`,
    path,
  );
}

/** Paths of what has a number for a name in a directory, in the order of numbers. */
async function numbered(
  files: FileTree,
  directory: string,
  options: ConvertOptions,
  isWanted: (entry: TreeEntry) => boolean,
): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of files.list(directory, options)) {
    if (isWanted(entry)) names.push(entry.name);
  }
  const prefix = directory === "" ? "" : `${directory}/`;
  return names.sort(byNumber).map((name) => `${prefix}${name}`);
}

function isNumberedDirectory({ name, isDirectory }: TreeEntry): boolean {
  return isDirectory && SHARD_NAME.test(name);
}

async function readFiles(
  files: FileTree,
  directory: string,
  { keys }: WrittenSpec,
  generation: Generation,
  options: ConvertOptions,
): Promise<Datapoint> {
  const found = new Map<string, boolean>();
  for await (const { name, isDirectory } of files.list(directory, options)) {
    found.set(name, isDirectory);
  }
  const surplus = found.keys().find((name) =>
    !name.startsWith(".") && !keys.some(({ key }) => key === name)
  );
  if (surplus !== undefined) {
    throw new UnfitError(`the spec has no '${surplus}'`);
  }
  const datapoint: [string, unknown][] = [];
  for (const { key, type } of keys) {
    const path = `${directory}/${key}`;
    const isDirectory = found.get(key);
    if (isDirectory === undefined) throw new UnfitError(`it has no '${key}'`);
    if (isDirectory !== type.isList) {
      throw new UnfitError(
        `its '${key}' is a ${
          isDirectory ? "directory" : "file"
        }, and its type ` +
          `${type.word}${type.isList ? "[] a list" : " no list"}`,
      );
    }
    const read = async (path: string) => {
      const bytes = await files.read(path, options);
      return fitting(key, generation, () => bytes);
    };
    datapoint.push([
      key,
      isDirectory
        ? await readList(files, path, key, options, read)
        : await read(path),
    ]);
  }
  return Object.fromEntries(datapoint);
}

/** The values of a list, in the order of their numbers, which are read one after the other. */
async function readList(
  files: FileTree,
  directory: string,
  key: string,
  options: ConvertOptions,
  read: (path: string) => Promise<Uint8Array>,
): Promise<AsyncIterable<Uint8Array>> {
  const isValue = ({ name }: TreeEntry) => {
    if (/^\d+$/.test(name)) return true;
    if (name.startsWith(".")) return false;
    throw new UnfitError(
      `its '${key}' has '${name}': the values of a list are 000000, 000001, ...`,
    );
  };
  const paths = await numbered(files, directory, options, isValue);
  return (async function* () {
    for (const path of paths) yield await read(path);
  })();
}
