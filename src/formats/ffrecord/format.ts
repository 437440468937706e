import { FormatError } from "../../errors.ts";
import type { Steps } from "../../io/steps.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
  Format,
  Probe,
  ServedContainer,
} from "../../tree/format.ts";
import { nameSuffix } from "../../tree/numbered_names.ts";
import type { Tree } from "../../tree/tree.ts";
import { checkRecordFiles } from "./check.ts";
import { endOfHeader, parseCount } from "./layout.ts";
import { type OpenAs, structuresAs } from "./find_structures.ts";
import { endsInStructure } from "./packed_files.ts";
import {
  completeHeaders,
  loadLastSample,
  openRecordFiles,
  type RecordFiles,
} from "./record_files.ts";
import { nameFiles } from "./name_files.ts";
import type { PlacedStructure } from "./structure.ts";
import { PackedTree, SampleTree } from "./tree.ts";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
export const ffrecord: Format = {
  name: "ffrecord",
  description: "FFRecord: packed folders, plain samples, directories of .ffr",
  detect,
  open: (location, options) => open(location, options, "detect"),
  openToServe: (location, options) => openToServe(location, options, "detect"),
  check: (location, options) => checkRecordFiles(location, options, "detect"),
};

/** FFRecord opened as a packed folder or not at all. */
export const ffrecordPacked: Format = {
  ...ffrecord,
  name: "ffrecord-packed",
  description: "FFRecord, as a packed folder or not at all",
  open: (location, options) => open(location, options, "packed"),
  openToServe: (location, options) => openToServe(location, options, "packed"),
  check: (location, options) => checkRecordFiles(location, options, "packed"),
};

/** FFRecord opened as numbered samples, whatever they are: also what is left of a damaged folder. */
export const ffrecordSamples: Format = {
  ...ffrecord,
  name: "ffrecord-samples",
  description: "FFRecord, as numbered samples even if it is a packed folder",
  open: (location, options) => open(location, options, "samples"),
  openToServe: (location, options) => openToServe(location, options, "samples"),
  check: (location, options) => checkRecordFiles(location, options, "samples"),
};

function* detect({ path: location, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some((name) => name.endsWith(".ffr"));
  // A damaged file of that name gets FFRecord's explanation of what is wrong.
  if (location.endsWith(".ffr")) return true;
  if (size < endOfHeader(0)) return false;
  const count = parseCount(viewOf(yield* read(0, 12)));
  if (count === 0) return size === endOfHeader(0);
  if (count < 0 || endOfHeader(count) > size) return false;
  const first = viewOf(yield* read(12 + 4 * count, 8));
  const offset = first.getUint32(0, true) + first.getUint32(4, true) * 2 ** 32;
  return offset >= endOfHeader(count) && offset <= size;
}

function* open(
  location: string,
  options: ContainerOptions,
  as: OpenAs,
): Steps<Container> {
  const files = yield* openRecordFiles(location, options);
  return yield* closingOnError(files, container(files, options, as));
}

function* openToServe(
  location: string,
  options: ContainerOptions,
  as: OpenAs,
): Steps<ServedContainer> {
  const files = yield* openRecordFiles(location, options, true);
  return yield* closingOnError(files, servedContainer(files, options, as));
}

/** Numbered samples need none of the tables to be shown; names are read by way of them. */
function* servedContainer(
  files: RecordFiles,
  options: ContainerOptions,
  as: OpenAs,
): Steps<ServedContainer> {
  const complete = () => completeHeaders(files);
  if (yield* areSamples(files, as)) {
    return { ...sampleContainer(files, options.ext), complete };
  }
  yield* complete();
  return { ...yield* container(files, options, as), complete };
}

/** Whether it is plain, before the tables are checked, that files show as numbered samples. */
function* areSamples(files: RecordFiles, as: OpenAs): Steps<boolean> {
  if (as === "samples" || files.index.length === 0) return as !== "packed";
  if (as === "packed") return false;
  yield* loadLastSample(files);
  try {
    return !(yield* endsInStructure(files, files.index.length - 1));
  } catch (error) {
    if (error instanceof FormatError) return false; // the checks will find out more
    throw error;
  }
}

function* container(
  files: RecordFiles,
  options: ContainerOptions,
  as: OpenAs,
): Steps<Container> {
  const placed = yield* structuresAs(as, files, options);
  if (placed.length > 0) return packedContainer(files, placed);
  return sampleContainer(files, options.ext);
}

function* closingOnError<T>(files: RecordFiles, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}

function packedContainer(
  files: RecordFiles,
  placed: readonly PlacedStructure[],
): Container {
  const names = nameFiles(files, placed);
  const whole = placed[0]!.folder === undefined;
  const tree = new PackedTree({ ...files, mtime: newest(files) }, names);
  const directories = names.columns.directoryEntries.length - 1;
  return {
    tree,
    info: {
      ...describe(
        files,
        whole ? "packed folder" : "directory of packed folders",
        tree,
      ),
      files: names.length - 1 - directories,
      directories,
    },
  };
}

function sampleContainer(
  files: RecordFiles,
  ext: string | undefined,
): Container {
  const suffix = nameSuffix(ext);
  const tree = new SampleTree({ ...files, mtime: newest(files) }, suffix);
  const kind = files.sources.length === 1
    ? "samples"
    : "samples in several files";
  return { tree, info: describe(files, kind, tree) };
}

function describe(
  { index, sources }: RecordFiles,
  kind: string,
  tree: Tree,
): ContainerInfo {
  return {
    format: "ffrecord",
    kind,
    files: tree.nodeCount - 1,
    directories: 0,
    bytes: sources.reduce((sum, { size }) => sum + size, 0),
    parts: index.parts.map((part) => ({
      path: part.path,
      bytes: part.size,
      samples: part.count,
    })),
  };
}

function newest({ sources }: RecordFiles): number {
  return sources.reduce((latest, { mtime }) => Math.max(latest, mtime), 0);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
