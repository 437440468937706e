/**
 * recordfs opens the containers that training data is packed in as read-only filesystems, and writes
 * them. Here is what a first program needs; no format's code is loaded before a container is opened.
 *
 * - {@linkcode open} opens the files of any container as a {@linkcode VirtualFs}: list, stat, read, stream.
 * - {@linkcode openSamples} opens its samples, by number and field.
 * - {@linkcode openDataset} opens them for a `DataLoader`.
 * - {@linkcode mount} mounts it, so that every program reads it (Linux).
 * - {@linkcode check} compares it with its checksums; {@linkcode convert} converts it to another format.
 * - {@linkcode registerFormat} takes a container format of your own.
 * - Every error is a {@linkcode RecordfsError}.
 *
 * Every other name has one entry point:
 *
 * | Entry point                   | What is there                                                             |
 * | ----------------------------- | ------------------------------------------------------------------------- |
 * | `@recordfs/recordfs/data`     | `DataLoader`, datasets, samplers, transforms                              |
 * | `@recordfs/recordfs/ffrecord` | `PackedFolder`, `FFRecordReader`, writers, pickles, as in Python          |
 * | `@recordfs/recordfs/gulp`     | `GulpDirectory`, writers, adapters, `GulpIngestor`, as in Python          |
 * | `@recordfs/recordfs/bags`     | `DatasetReader`, `BagReader`, writers, encoders and decoders, as in Python |
 * | `@recordfs/recordfs/tar`      | `TarWriter`                                                               |
 * | `@recordfs/recordfs/tfrecord` | `TFRecordWriter`                                                          |
 * | `@recordfs/recordfs/mds`      | `MDSWriter`                                                               |
 * | `@recordfs/recordfs/serve`    | HTTP, WebDAV and the page                                                 |
 * | `@recordfs/recordfs/vfs`      | `openSync`, storages, and types of files, fields and options              |
 * | `@recordfs/recordfs/fuse`     | `MountOptions` of `mount`                                                 |
 * | `@recordfs/recordfs/formats`  | what a container format of your own is made of                            |
 * | `@recordfs/recordfs/image`    | JPEG, PNG, WebP, AVIF, GIF, TIFF                                          |
 * | `@recordfs/recordfs/video`    | frames of videos, through ffmpeg                                          |
 * | `@recordfs/recordfs/numpy`    | NumPy's arrays and `.npy` files                                           |
 * | `@recordfs/recordfs/msgpack`  | MessagePack                                                               |
 *
 * @module
 */
import type {
  ConvertOptions,
  ConvertReport,
} from "./src/convert/conversion.ts";
import type { SamplesDataset } from "./src/data/datasets/samples_dataset.ts";
import type { Process } from "./src/data/datasets/process.ts";
import type { Imported } from "./src/data/recipe.ts";
import type { OpenSamplesOptions } from "./src/open/samples/open_samples.ts";
import type { OpenedSamples } from "./src/open/samples/opened_samples.ts";
import type { SampleValues } from "./src/tree/samples/samples.ts";
import type { VirtualFs } from "./src/tree/vfs/virtual_fs.ts";
import type { ContainerLocation } from "./src/open/location.ts";
import type { WaitOptions } from "./src/io/storage/byte_source.ts";

export { check, open, type OpenContainerOptions } from "./src/open/open.ts";
export { VirtualFs } from "./src/tree/vfs/virtual_fs.ts";
export type { WalkEntry } from "./src/tree/vfs/walk.ts";
export type { CheckOptions, CheckReport } from "./src/tree/format.ts";
export { mount } from "./fuse/mount_container.ts";
export type { Mount } from "./fuse/mounting/mount_handle.ts";
export { MountError } from "./fuse/mounting/mount_error.ts";
export { ConversionError } from "./src/convert/conversion.ts";
export type { ConvertOptions, ConvertReport };
export type { OpenedSamples, OpenSamplesOptions };
export type { SampleValues };
export {
  type ErrorFacts,
  FormatError,
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
 * @throws {RecordfsError} With code `bad-pattern` if a glob of `files` is none, `not-portable` if the module of
 * `decoders` does not export them.
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
 * Opens a container of any format as a dataset for a `DataLoader`. Its samples are those of {@linkcode openSamples};
 * each batch is one batched read.
 *
 * @param location A file or directory, or a pattern of several, such as `train-{000..146}.tar`; or an opened container.
 * The dataset closes an opened container. Worker threads of a loader cannot open one whose samples are its files.
 * @throws {FormatError} If it is not a known container, or is damaged.
 * @throws {DataError} With code `not-portable` if the module of `process` does not export it.
 *
 * @example Batches of any format
 * ```ts
 * import { openDataset } from "@recordfs/recordfs";
 * import { DataLoader } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await openDataset("test/golden/mds/plain/data", { fields: ["label"] });
 * await using loader = new DataLoader(dataset, { batchSize: 4 });
 * for await (const { label } of loader) console.log(label);
 * const [sample] = await dataset.get([2]);
 * assert.equal(sample?.label, 2);
 * ```
 */
export async function openDataset<T, S extends object = SampleValues>(
  location: ContainerLocation | VirtualFs,
  options: OpenSamplesOptions & WaitOptions & {
    /** Whether values are decoded; otherwise they are the stored bytes. Defaults to `true`. */
    readonly decode?: boolean | undefined;
    /** Makes what is trained on of the samples of a batch; a module's function, where the loader has workers. */
    readonly process: Imported<Process<S, T>>;
  },
): Promise<SamplesDataset<S, T>>;
/** Opens a container; samples are values by the names of fields. */
export async function openDataset<S extends object = SampleValues>(
  location: ContainerLocation | VirtualFs,
  options?: OpenSamplesOptions & WaitOptions & {
    /** Whether values are decoded; otherwise they are the stored bytes. Defaults to `true`. */
    readonly decode?: boolean | undefined;
  },
): Promise<SamplesDataset<S>>;
export async function openDataset(
  location: ContainerLocation | VirtualFs,
  options?: Parameters<typeof openDataset>[1],
): Promise<SamplesDataset<object>> {
  const module = await import("./src/open/data/open_dataset.ts");
  return await module.openDataset<object>(location, options);
}

/**
 * Converts a container, or a folder, to another format, or to another generation of Bags.
 *
 * Plans what is kept, changed and lost before writing anything. If something would be lost, it writes nothing, unless
 * `lossy` is set. The same applies to a value found during the conversion that has no form in the target, such as a
 * number below 0 for generation 1 of Bags; with `lossy` it is skipped and counted.
 *
 * Types of Bags mean what the original packages ship: the decoders of the target's generation return what those of the
 * source's returned. So `int` gets a sign byte where it needs one, `array(float32,4)` of generation 1 becomes
 * granular's `array`, texts become `msgpack` where some are empty and the target has no empty records, and lists become
 * `msgpack` or `tree` in generation 3, which has none. Custom types keep their bytes.
 *
 * `label2idx.json` of GulpIO is copied into the directory of a dataset, or of its first shard, and restored from there;
 * no reader of the original packages reads it.
 *
 * The target appears when it is complete. Memory use is that of the largest value, or of the largest list that becomes
 * one value.
 *
 * @param source A container of any format, also by URL, or a local folder.
 * @param target Where to write. Nothing may exist there, except an empty directory if the target is a directory,
 * unless the option `replace` is set.
 * @throws {ConversionError} If something would be lost, or there is no conversion; nothing is written.
 * @throws {IndexError} If the option `subset` has the index of a sample that does not exist.
 * @throws {DataError} If the option `subset` names an index file that does not fit the source.
 * @throws {FormatError} If the source is damaged.
 * @throws {WriteError} If the target can't be written, or exists.
 *
 * @example From generation 1 of Bags to 3
 * ```ts
 * import { convert } from "@recordfs/recordfs";
 * import { DatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const target = `${await Deno.makeTempDir()}/data`;
 * const source = "test/golden/bags/lists/data";
 * const { plan } = await convert(source, target, { to: "bags", generation: 3 });
 * assert.deepEqual(plan.lost, []);
 *
 * using before = await DatasetReader.open(source);
 * using after = await DatasetReader.open(target);
 * assert.deepEqual((await after.get(0)).bar, (await before.get(0)).bar);
 * ```
 */
export async function convert(
  source: string | URL,
  target: string | URL,
  options?: ConvertOptions,
): Promise<ConvertReport> {
  const module = await import("./src/open/convert/convert.ts");
  return await module.convert(source, target, options);
}

export { registerFormat } from "./src/formats/registry.ts";
