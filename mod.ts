/**
 * recordfs opens the containers that training data is packed in as read-only filesystems, and writes
 * them. Here is what a first program needs; no format's code is loaded before a container is opened.
 *
 * - {@linkcode open} shows any container as a {@linkcode VirtualFs}: list, stat, read, stream.
 * - {@linkcode openSamples} reads samples of any container by number and field.
 * - {@linkcode mount} shows it to every program, through the kernel (Linux).
 * - {@linkcode check} compares a container with its checksums.
 * - {@linkcode convert} makes one format, or generation of Bags, of another; {@linkcode packFolder} packs a folder.
 * - {@linkcode PackedFolder}, {@linkcode FFRecordReader}, {@linkcode GulpDirectory} and {@linkcode DatasetReader} read
 *   as the Python libraries of FFRecord, GulpIO and Granular do; {@linkcode FFRecordWriter} writes.
 * - {@linkcode registerFormat} takes a container format of your own.
 * - Every error is a {@linkcode RecordfsError}.
 *
 * All else has an entry point of its own, and so have these classes with everything that they can do:
 *
 * | Entry point                  | What is there                                                             |
 * | ---------------------------- | ------------------------------------------------------------------------- |
 * | `@recordfs/recordfs/vfs`     | `openSync`, and the types of `open` and `VirtualFs`                       |
 * | `@recordfs/recordfs/fuse`    | `mount`, and its types                                                    |
 * | `@recordfs/recordfs/data`    | `DataLoader`, datasets, samplers and transforms, to train on any of them  |
 * | `@recordfs/recordfs/ffrecord` | FFRecord: readers, writers, pickles                                      |
 * | `@recordfs/recordfs/gulp`    | GulpIO: readers, writers, adapters, `GulpIngestor`                        |
 * | `@recordfs/recordfs/bags`    | Bags and Granular: readers, writers, types of values                      |
 * | `@recordfs/recordfs/tar`     | tar and WebDataset: readers, writers                                      |
 * | `@recordfs/recordfs/zip`     | zip: its reader                                                           |
 * | `@recordfs/recordfs/tfrecord` | TFRecord: readers, writers, examples                                     |
 * | `@recordfs/recordfs/mds`     | MDS of MosaicML Streaming: `MDSWriter`                                    |
 * | `@recordfs/recordfs/convert` | `convert`, and its types                                                  |
 * | `@recordfs/recordfs/image`   | JPEG and PNG                                                              |
 * | `@recordfs/recordfs/video`   | Frames of videos, through ffmpeg                                          |
 * | `@recordfs/recordfs/numpy`   | NumPy's arrays and `.npy` files                                           |
 * | `@recordfs/recordfs/msgpack` | MessagePack                                                               |
 *
 * @module
 */
import type { ConvertOptions, ConvertReport } from "./src/open/convert/mod.ts";
import type { OpenSamplesOptions } from "./src/open/samples/open_samples.ts";
import type { OpenedSamples } from "./src/open/samples/opened_samples.ts";
import type { SampleValues } from "./src/tree/samples/samples.ts";
import type { VirtualFs } from "./src/tree/vfs/virtual_fs.ts";
import type { ContainerLocation } from "./src/open/location.ts";
import type { WaitOptions } from "./src/io/storage/byte_source.ts";
import type * as bags from "./src/formats/bags/mod.ts";
import type * as ffrecord from "./src/formats/ffrecord/mod.ts";
import type * as gulp from "./src/formats/gulp/mod.ts";

export {
  check,
  type CheckContainerOptions,
  open,
  type OpenContainerOptions,
} from "./src/open/open.ts";
export {
  VirtualFs,
  type VirtualStat,
  type WalkEntry,
  type WalkOptions,
} from "./src/tree/vfs/virtual_fs.ts";
export type { CheckOptions, CheckReport } from "./src/tree/format.ts";
export { mount, type MountContainerOptions } from "./fuse/mount_container.ts";
export type { Mount } from "./fuse/mounting/mount_handle.ts";
export {
  MountError,
  type MountErrorCode,
} from "./fuse/mounting/mount_error.ts";
export { ConversionError } from "./src/convert/conversion.ts";
export type { ConvertOptions, ConvertReport };
export type { OpenedSamples, OpenSamplesOptions };
export type { SampleValues };
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  PathError,
  RecordfsError,
  WriteError,
} from "./src/base/errors.ts";

/**
 * Opens the samples of a container of any format: rows of Parquet, examples of TFRecord, samples of MDS and WebDataset.
 * Of FFRecord's plain samples and TFRecord's other records, the one field is `content`. A container without samples,
 * such as a zip or a packed folder, has its files: their fields are `path` and `content`, decoded by the file's
 * extension.
 *
 * @param location A file or directory, or a container's bytes; or an opened container, which is closed with the samples.
 * @param options `fields` are those that are read unless a call says others.
 * @throws {FormatError} If it is no known container, or damaged.
 * @throws {PathError} If there is no such file as one of `paths`.
 * @throws {RecordfsError} With code `bad-pattern` if a glob of `files` is none.
 *
 * @example Any format
 * ```ts
 * import { openSamples } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using samples = await openSamples("test/golden/mds/plain/data");
 * const { label } = await samples.get(2);
 * assert.equal(label, 2);
 * const labels = await samples.get([2, 0], { fields: ["label"] });
 * assert.deepEqual(labels.map(({ label }) => label), [2, 0]);
 * for await (const { label } of samples) console.log(label);
 * ```
 *
 * @example Files
 * ```ts
 * import { openSamples } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using files = await openSamples("test/recipes/packed.ffr", { files: "*.txt" });
 * const { path, content } = await files.get(0);
 * assert.equal(path, "001.txt");
 * assert.equal(typeof content, "string");
 * ```
 */
export async function openSamples<
  D extends object = SampleValues,
  R extends object = SampleValues,
>(
  location: ContainerLocation | VirtualFs,
  options?: OpenSamplesOptions & WaitOptions,
): Promise<OpenedSamples<D, R>> {
  const module = await import("./src/open/samples/open_samples.ts");
  return await module.openSamples<D, R>(location, options);
}

/**
 * Converts a container or a folder; see `@recordfs/recordfs/convert`.
 *
 * @param source A container of any format, or a folder.
 * @param target What is made; nothing may be there, unless `replace` is given.
 * @throws {ConversionError} If it is impossible, or would lose something that is not given up by `lossy`.
 * @throws {FormatError} If the source is damaged.
 * @throws {WriteError} If the target cannot be written; nothing of it is left then.
 */
export async function convert(
  source: string | URL,
  target: string | URL,
  options?: ConvertOptions,
): Promise<ConvertReport> {
  const module = await import("./src/open/convert/mod.ts");
  return await module.convert(source, target, options);
}

/**
 * Packs a folder into FFRecord, as its Python library's `pack_folder` does; see `@recordfs/recordfs/ffrecord`.
 *
 * @param dir The folder.
 * @param out The file to make, or with more than one part the directory of the files.
 * @throws {PackError} If something in the folder cannot be packed; nothing is written then.
 * @throws {WriteError} If the target cannot be written.
 */
export async function packFolder(
  dir: string | URL,
  out: string | URL,
  options?: ffrecord.PackOptions,
): Promise<ffrecord.PackReport> {
  const module = await import("./src/formats/ffrecord/mod.ts");
  return await module.packFolder(dir, out, options);
}

const ffrecordModule = () => import("./src/formats/ffrecord/mod.ts");
const gulpModule = () => import("./src/formats/gulp/mod.ts");
const bagsModule = () => import("./src/formats/bags/mod.ts");

/** Opens folders that are packed in FFRecord; the class is in `@recordfs/recordfs/ffrecord`. */
export const PackedFolder: Pick<typeof ffrecord.PackedFolder, "open"> = {
  open: async (...args) =>
    await (await ffrecordModule()).PackedFolder.open(...args),
};
/** A folder packed in FFRecord. */
export type PackedFolder = ffrecord.PackedFolder;

/** Opens the samples of FFRecord files; the class is in `@recordfs/recordfs/ffrecord`. */
export const FFRecordReader: Pick<typeof ffrecord.FFRecordReader, "open"> = {
  open: async (...args) =>
    await (await ffrecordModule()).FFRecordReader.open(...args),
};
/** The samples of FFRecord files. */
export type FFRecordReader = ffrecord.FFRecordReader;

/** Begins FFRecord files; the class is in `@recordfs/recordfs/ffrecord`. */
export const FFRecordWriter: Pick<typeof ffrecord.FFRecordWriter, "open"> = {
  open: async (...args) =>
    await (await ffrecordModule()).FFRecordWriter.open(...args),
};
/** An FFRecord file that is being written. */
export type FFRecordWriter = ffrecord.FFRecordWriter;

/** Opens GulpIO directories; the class is in `@recordfs/recordfs/gulp`. */
export const GulpDirectory: Pick<typeof gulp.GulpDirectory, "open"> = {
  open: async (...args) =>
    await (await gulpModule()).GulpDirectory.open(...args),
};
/** A GulpIO directory. */
export type GulpDirectory<Frame> = gulp.GulpDirectory<Frame>;

/** Opens datasets of Granular; the class is in `@recordfs/recordfs/bags`. */
export const DatasetReader: Pick<typeof bags.DatasetReader, "open"> = {
  open: async (...args) =>
    await (await bagsModule()).DatasetReader.open(...args),
};
/** A dataset of Granular. */
export type DatasetReader = bags.DatasetReader;

export { registerFormat } from "./src/formats/registry.ts";
