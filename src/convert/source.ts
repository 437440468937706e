import { FormatError } from "../errors.ts";
import { BagReader } from "../formats/bags/bag_reader.ts";
import { ShardedDatasetReader } from "../formats/bags/sharded_dataset_reader.ts";
import { SHARD_NAME, SPEC_FILE } from "../formats/bags/dataset_names.ts";
import { FFRecordReader } from "../formats/ffrecord/reader.ts";
import { GulpDirectory } from "../formats/gulp/directory.ts";
import { readDirectory } from "../io/read_directory.ts";
import { perform, runAsync } from "../io/steps.ts";
import { open } from "../vfs/open.ts";
import type { ConvertOptions } from "./conversion.ts";
import { containerFiles, type FileTree, folderFiles } from "./file_tree.ts";

/** Videos whose frames stay JPEGs. */
export type RawGulp = GulpDirectory<Uint8Array<ArrayBuffer>>;

/** An opened source, by what it holds; `files` is how it looks as a file tree. */
export type Source =
  & { readonly path: string; close(): void; files(): Promise<FileTree> }
  & (
    | {
      readonly kind: "dataset";
      readonly reader: ShardedDatasetReader;
      readonly isSharded: boolean;
    }
    | { readonly kind: "bag"; readonly reader: BagReader }
    | { readonly kind: "samples"; readonly reader: FFRecordReader }
    | { readonly kind: "videos"; readonly reader: RawGulp }
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
    const files = folderFiles(path);
    return {
      kind: "folder",
      path,
      close() {},
      files: () => Promise.resolve(files),
    };
  }
  let container;
  try {
    container = await open(path, { format, signal, onWarning });
  } catch (error) {
    if (names === undefined || !isUnknown(error)) throw error;
    const files = folderFiles(path);
    return {
      kind: "folder",
      path,
      close() {},
      files: () => Promise.resolve(files),
    };
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
      const reader = await GulpDirectory.open(path, { decode: false, signal });
      return { kind: "videos", ...closing(reader) };
    }
    if (info.format === "bags" && info.kind === "bag") {
      const reader = await BagReader.open(path.replace(/\.idx$/, ".bag"), {
        signal,
        onWarning,
      });
      return { kind: "bag", ...closing(reader) };
    }
    if (info.format === "bags") {
      const reader = await ShardedDatasetReader.open(path, {
        decoders: null,
        signal,
        onWarning,
      });
      const isSharded = names?.includes(SPEC_FILE) === false;
      return { kind: "dataset", isSharded, ...closing(reader) };
    }
    if (info.kind === "samples") {
      const reader = await FFRecordReader.open(path, { signal, onWarning });
      return { kind: "samples", ...closing(reader) };
    }
    return { kind: "packed", ...common };
  } catch (error) {
    container.close();
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
