import { FormatError } from "../../errors.ts";
import { BagReader } from "../../formats/bags/read/bag_reader.ts";
import { ShardedDatasetReader } from "../../formats/bags/read/sharded_dataset_reader.ts";
import {
  SHARD_NAME,
  SPEC_FILE,
} from "../../formats/bags/dataset/dataset_names.ts";
import { FFRecordReader } from "../../formats/ffrecord/read/reader.ts";
import { LABEL_FILE } from "../../formats/gulp/read/chunk_files.ts";
import { readFile } from "../../io/read/read_file.ts";
import { readDirectory } from "../../io/storage/read_directory.ts";
import { perform, runAsync } from "../../io/concurrency/steps.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import { open } from "../../vfs/open.ts";
import type { ConvertOptions } from "../conversion.ts";
import {
  containerFiles,
  type FileTree,
  folderFiles,
  withRootFile,
} from "./file_tree.ts";
import { labelPlace } from "./label_file.ts";
import { openVideos, type VideoReader } from "./video_reader.ts";

/** An opened source, by what it holds; `files` is how it looks as a file tree. */
export type Source =
  & {
    readonly path: string;
    /** What it is, for people. */
    readonly what: string;
    close(): void;
    files(): Promise<FileTree>;
  }
  & (
    | {
      readonly kind: "dataset";
      readonly reader: ShardedDatasetReader;
      readonly isSharded: boolean;
      /** Its `label2idx.json`, which came along from GulpIO. */
      readonly labels: Uint8Array | undefined;
    }
    | { readonly kind: "bag"; readonly reader: BagReader }
    | { readonly kind: "samples"; readonly reader: FFRecordReader }
    | {
      readonly kind: "videos";
      readonly reader: VideoReader;
      /** How many videos can't be read, and are not among the files. */
      readonly badVideos: number;
      /** Its `label2idx.json`. */
      readonly labels: Uint8Array | undefined;
    }
    | { readonly kind: "packed" | "folder" }
  );

/** Opens what is to be converted. */
export async function openSource(
  path: string,
  options: ConvertOptions,
): Promise<Source> {
  const { from: format, signal, onWarning } = options;
  const names = await runAsync(perform(readDirectory(path)), signal);
  if (names !== undefined && await isFolder(path, names, format)) {
    return folder(path);
  }
  let container;
  try {
    container = await open(path, { format, signal, onWarning });
  } catch (error) {
    if (names === undefined || !isUnknown(error)) throw error;
    return folder(path);
  }
  const common = {
    path,
    close: () => container.close(),
    files: () => containerFiles(container),
  };
  const closing = <R extends Disposable>(reader: R) => ({
    ...common,
    reader,
    close() {
      reader[Symbol.dispose]();
      container.close();
    },
  });
  try {
    const { info } = container;
    if (info.format === "gulp") {
      const isChunk = names === undefined;
      // As a tree shows it, a chunk by itself has none.
      const labels = isChunk
        ? undefined
        : await readIfThere(`${path}/${LABEL_FILE}`, signal);
      const reader = await openVideos(path, isChunk, { signal });
      return {
        kind: "videos",
        what: isChunk ? "a chunk of GulpIO" : "GulpIO",
        badVideos: info.facts?.["badVideos"] ?? 0,
        labels,
        ...closing(reader),
      };
    }
    if (info.format === "bags" && info.kind === "bag") {
      const reader = await BagReader.open(path.replace(/\.idx$/, ".bag"), {
        signal,
        onWarning,
      });
      const what = `a bag of generation ${reader.generation}`;
      return { kind: "bag", what, ...closing(reader) };
    }
    if (info.format === "bags") {
      const isSharded = names?.includes(SPEC_FILE) === false;
      const labelFile = `${path}/${labelPlace(isSharded)}`;
      const labels = await readIfThere(labelFile, signal);
      const reader = await ShardedDatasetReader.open(path, {
        decoders: null,
        signal,
        onWarning,
      });
      const what = `Bags, generation ${reader.generation}`;
      const files = async () => {
        const own = await common.files();
        return labels === undefined
          ? own
          : withRootFile(own, LABEL_FILE, labels);
      };
      const dataset = { kind: "dataset", what, isSharded, labels } as const;
      return { ...closing(reader), ...dataset, files };
    }
    if (SAMPLE_KINDS.includes(info.kind)) {
      const reader = await FFRecordReader.open(path, { signal, onWarning });
      return { kind: "samples", what: "FFRecord samples", ...closing(reader) };
    }
    const what = info.kind === "packed folder"
      ? "an FFRecord packed folder"
      : "a directory of FFRecord packed folders";
    return { kind: "packed", what, ...common };
  } catch (error) {
    container.close();
    throw error;
  }
}

/** What FFRecord files are that are no packed folders: one file, or those of a directory. */
const SAMPLE_KINDS = ["samples", "samples in several files"];

function folder(path: string): Source {
  const files = folderFiles(path);
  return {
    kind: "folder",
    what: "a folder",
    path,
    close() {},
    files: () => Promise.resolve(files),
  };
}

async function readIfThere(
  file: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return await runAsync(readFile(file), signal);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Whether a directory is to be taken for what its files are. One that a dataset was extracted to has
 * a `spec.json`, as a dataset has, but no bags.
 */
async function isFolder(
  path: string,
  names: readonly string[],
  format: string | undefined,
): Promise<boolean> {
  if (format !== undefined) return format === "folder";
  if (names.some((name) => /\.(bag|idx)$/.test(name))) return false;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort();
  if (numbered.length === 0) return false;
  if (names.includes(SPEC_FILE)) return true;
  const below = await runAsync(
    perform(readDirectory(`${path}/${numbered[0]}`)),
  );
  return below !== undefined && below.includes(SPEC_FILE) &&
    !below.some((name) => /\.(bag|idx)$/.test(name));
}

function isUnknown(error: unknown): boolean {
  return error instanceof FormatError && error.code === "unknown-format";
}
