import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
} from "../../../convert/conversion.ts";
import { optionText, SPEC } from "../../../base/named_option.ts";
import { ahead } from "../../../io/concurrency/ahead.ts";
import { SpareMemory } from "../../../io/read/spare_memory.ts";
import type { FileTree } from "../../../convert/from/file_tree.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import { SPEC_FILE } from "../dataset/dataset_names.ts";
import { parseSpec, specOf, writtenSpec } from "../dataset/spec.ts";
import type { Datapoint } from "../read/selection.ts";
import { DatapointFolders } from "./datapoint_folders.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";

/**
 * Converts files `INDEX/KEY` with a `spec.json`, or `SHARD/INDEX/KEY`, to a dataset; a directory `KEY` is a list. The
 * bytes must be those of the types in that generation.
 */
export async function filesToDataset(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3 } = options;
  const files = await source.files();
  const { signal } = options;
  const folders = await DatapointFolders.find(files, {
    signal,
    spec: options.spec,
  });
  const spec = await specFor(source, files, folders, options);
  requireDatapoints(source, folders);
  const written = writtenSpec(spec, generation, target);
  const notes = new PlanNotes();
  notes.kept.push(
    `values as bytes, assumed to be of generation ${generation}`,
  );
  notes.changed.push(
    "directories INDEX become datapoints, in the order of their numbers",
  );
  const labels = folders.hasLabels
    ? await files.read(LABEL_FILE, options)
    : undefined;
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  const { strays, shards, isSharded } = folders;
  if (strays.length > 0) {
    notes.lost.push(
      `files that are not datapoints: ${strays.slice(0, 3).join(", ")}` +
        (strays.length > 3 ? ` and ${strays.length - 3} more` : ""),
    );
  }
  return datasetConversion(source, target, options, {
    spec,
    isSharded,
    labels,
    notes,
    unit: "datapoints",
    total: shards.reduce((sum, { length }) => sum + length, 0),
    async fill(dataset) {
      const spare = new SpareMemory();
      const bytesOf = async (path: string, key: string) => {
        const bytes = await files.read(path, { signal, memory: spare });
        return fitting(key, generation, () => bytes);
      };
      const readOne = (path: string) => folders.read(path, written, bytesOf);
      for (const paths of shards) {
        await dataset.startShard();
        for await (
          const { path, datapoint } of ahead(
            readEach(paths, readOne),
            ({ bytes }) => bytes,
            ({ values }) => values.forEach((value) => spare.giveBack(value)),
          )
        ) await dataset.append(`${files.location}/${path}`, () => datapoint);
      }
    },
  });
}

interface ReadDatapoint {
  readonly path: string;
  /** Rejects if the datapoint can't be read. */
  readonly datapoint: Promise<Datapoint>;
  /** Its values, except lists, which are read when they are written. */
  readonly values: readonly Uint8Array[];
  readonly bytes: number;
}

async function* readEach(
  paths: readonly string[],
  read: (path: string) => Promise<Datapoint>,
): AsyncGenerator<ReadDatapoint, void, undefined> {
  for (const path of paths) {
    const datapoint = read(path);
    const all = await datapoint.catch(() => ({})); // the writer of the datapoint reports the error
    const values = Object.values(all)
      .filter((value) => value instanceof Uint8Array);
    const bytes = values.reduce((sum, { byteLength }) => sum + byteLength, 0);
    yield { path, datapoint, values, bytes };
  }
}

/** Rejects a source without datapoint directories, unless it is empty. */
function requireDatapoints(
  { path }: ConversionSource,
  { shards, isSharded, strays }: DatapointFolders,
): void {
  const hasDirectories = isSharded || shards[0]!.length > 0;
  if (hasDirectories || strays.length === 0) return;
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path} to Bags: it has no directories 000000, ` +
      "000001 and so on, which are the datapoints, but " +
      `${strays.slice(0, 3).join(", ")}. Name the files 000000/KEY, ` +
      "000001/KEY and so on",
    path,
  );
}

async function specFor(
  { path }: ConversionSource,
  files: FileTree,
  { specPath }: DatapointFolders,
  { spec, generation = 3, ...options }: ConvertOptions,
) {
  if (spec !== undefined) return spec;
  if (specPath === undefined) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path} to Bags: it has no ${SPEC_FILE}, which says the types of keys. ` +
        `Give them by ${
          optionText(SPEC)
        }, and name the files 000000/KEY, 000001/KEY and so on`,
      path,
      [],
      undefined,
      [SPEC],
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
    `Cannot convert ${path} to Bags of generation 3: '${list.key}' is a ` +
      `list, ${list.type.word}, and generation 3 has none. Convert it to ` +
      "generation 2, and that to 3",
    path,
  );
}
