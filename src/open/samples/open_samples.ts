import { FormatError, RecordfsError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { SampleDecoders } from "../../codecs/file_values.ts";
import { DataError } from "../../data/data_error.ts";
import {
  type ChooseFilesOptions,
  chooserOf,
} from "../../data/datasets/choose_files.ts";
import {
  type FolderSamples,
  listClassFolder,
} from "../../data/datasets/folder_samples.ts";
import {
  FileSamples,
  listChosen,
  type ListedFiles,
  requireListed,
} from "../../data/datasets/file_samples.ts";
import type { Imported } from "../../data/recipe.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { mustWait } from "../../io/storage/must_wait.ts";
import { lastingAt } from "../../io/storage/stored_location.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import type { DirectoryListing } from "../../tree/directory_tree.ts";
import { notedListing } from "../../tree/trees/layered_tree.ts";
import { SamplesByField } from "../../tree/samples/samples_by_field.ts";
import type {
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "../../tree/samples/samples.ts";
import { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { type ContainerLocation, placeOf } from "../location.ts";
import { open, type OpenContainerOptions } from "../open.ts";
import { OpenedSamples } from "./opened_samples.ts";
import { importDecoders, shareableDecoders } from "./shareable_decoders.ts";

/** Options of {@linkcode openSamples}; with `files` or `paths`, samples are files, even if the format has samples. */
export interface OpenSamplesOptions
  extends
    OpenContainerOptions,
    Pick<ReadSamplesOptions, "fields">,
    ChooseFilesOptions {
  /**
   * Decoders of values that are stored as bytes, or the module that exports them, which other threads need. If each
   * sample has its own fields, as in WebDataset, their names are the last extensions of the fields (`png` for
   * `seg.png`); otherwise those of the fields' types (`jpeg`, `int`, `utf8`: `field.type.name`; `bytes` for the contents
   * of files). They replace the usual decoding of such values; `null` leaves the bytes. Lists are decoded element by
   * element. Everything else is decoded as usual, and so are values that are not stored as bytes, such as the numbers
   * and strings of Parquet.
   */
  readonly decoders?: SampleDecoders | Imported<never> | undefined;
}

/** Implements `openSamples` of `mod.ts`, which loads this module on demand. */
export async function openSamples<
  D extends object = SampleValues,
  R extends object = SampleValues,
>(
  location: ContainerLocation | VirtualFs,
  options: OpenSamplesOptions & WaitOptions = {},
): Promise<OpenedSamples<D, R>> {
  const { files, paths, fields, decoders: from, ...others } = options;
  others.signal?.throwIfAborted();
  const decoders = await importDecoders(from);
  const place = placeOfSamples(location, others);
  let fs: VirtualFs;
  try {
    fs = location instanceof VirtualFs
      ? location
      : await open(place.path, place.options);
  } catch (error) {
    const folder = await classFolderAt(place, files, error);
    if (folder === undefined || paths !== undefined) throw error;
    const samples: Samples = new SamplesByField(folder, {
      decoders: decoders && shareableDecoders(decoders),
    });
    requireFields(samples, fields);
    return new OpenedSamples(samples as Samples<R, D>, fields);
  }
  const areChosen = files !== undefined || paths !== undefined;
  const listed = fs.samples === undefined || areChosen
    ? await listChosen(fs, options)
    : undefined;
  return samplesOf(fs, listed, place, { fields, decoders });
}

/**
 * Samples of a local folder of pictures in class folders, which is no container.
 *
 * @param error Why it could not be opened as one.
 */
async function classFolderAt(
  { path, options: { storage, signal } }: PlacedSamples,
  files: ChooseFilesOptions["files"],
  error: unknown,
): Promise<FolderSamples | undefined> {
  const isUnknown = error instanceof FormatError &&
    error.code === "unknown-format";
  if (!isUnknown || storage !== LOCAL_DISK) return undefined;
  const isChosen = await chooserOf(files);
  return await listClassFolder(path, storage, isChosen, { signal });
}

/** Path of a container, and options to open it. */
export interface PlacedSamples {
  readonly path: string;
  readonly options: OpenContainerOptions & WaitOptions;
  /** Whether other threads can open it by path and options. */
  readonly isOpenedByPath: boolean;
}

/** Returns the location of a container in a form that stays valid if the working directory changes. */
export function placeOfSamples(
  location: ContainerLocation | VirtualFs,
  options: OpenContainerOptions & WaitOptions,
): PlacedSamples {
  if (location instanceof VirtualFs) {
    return { path: location.location, options: {}, isOpenedByPath: false };
  }
  const isPath = typeof location === "string" || location instanceof URL;
  if (!isPath) return { ...placeOf(location, options), isOpenedByPath: true };
  const { path, storage } = lastingAt(location, options);
  return { path, options: { ...options, storage }, isOpenedByPath: true };
}

/** Selects what is read of samples, and how it is decoded. */
interface ReadingOptions extends Pick<ReadSamplesOptions, "fields"> {
  readonly decoders?: SampleDecoders | undefined;
}

/** Returns the samples of an opened container, or of the listed files. Closing them closes the container. */
export function samplesOf<D extends object, R extends object>(
  fs: VirtualFs,
  files: ListedFiles | undefined,
  place: PlacedSamples,
  { fields, decoders }: ReadingOptions,
): OpenedSamples<D, R> {
  if (files === undefined && place.isOpenedByPath) {
    const { onWarning = warnOnConsole } = place.options;
    const notes = fs.info.notes ?? [];
    for (const note of notes) onWarning(`${place.path}: ${note}`);
  }
  const samples = files === undefined ? fs.samples! : filesOf(fs, files, place);
  const byField: Samples = new SamplesByField(samples, {
    close() {
      samples.close(); // what was decoded may still be cached
      fs.close();
    },
    decoders: decoders && shareableDecoders(decoders),
  });
  try {
    requireFields(byField, fields);
  } catch (error) {
    fs.close();
    throw error;
  }
  return new OpenedSamples(byField as Samples<R, D>, fields, fs);
}

/**
 * Makes sure that samples have the fields that are wanted, where all have the same.
 *
 * @throws {RecordfsError} With code `no-column` if they have not.
 */
function requireFields(
  { fields, shards: { name: path }, unit }: Samples,
  wanted: readonly string[] = [],
): void {
  if (fields === undefined) return;
  const unknown = wanted.find((name) =>
    !fields.some((field) => field.name === name)
  );
  if (unknown === undefined) return;
  const known = fields.map(({ name }) => name).join(", ");
  throw new RecordfsError(
    "no-column",
    `Cannot read the field '${unknown}' of ${path}: a ${unit} has ${known}`,
    { path, actual: unknown },
  );
}

/** Options that other threads do not get: what they are for has become the storage. */
type OfThread = "onWarning" | "remote" | "storage";

/** Data that other threads need to reopen the samples. */
interface Seed {
  readonly files: ListedFiles;
  readonly path: string;
  readonly options: OpenContainerOptions;
  /** What the directory holds, if it shows nested containers: nodes follow from that. */
  readonly listing: DirectoryListing | undefined;
}

function filesOf(
  fs: VirtualFs,
  files: ListedFiles,
  { path, options, isOpenedByPath }: PlacedSamples,
): FileSamples {
  const { checkData, decoded, ext, format, lastNode, maxRatio } = options;
  const { nested, pageCacheSize, prefix, sampleView, stripSuffix } = options;
  const { storage = LOCAL_DISK } = options;
  const how = {
    ...{ checkData, decoded, ext, format, lastNode, maxRatio },
    ...{ nested, pageCacheSize, prefix, sampleView, stripSuffix },
  } satisfies Record<Exclude<keyof OpenContainerOptions, OfThread>, unknown>;
  return new FileSamples(fs, storage, files.columns, (): SamplesHandle => {
    if (!isOpenedByPath) throw notOpenedByPath(path);
    const listing = notedListing(fs.tree);
    const data: Seed = { files, path, options: how, listing };
    return { module: import.meta.url, data };
  });
}

/** Reopens file samples in another thread. Throws a `FormatError` if the container has changed. */
export function* reopenSamples(
  { files, path, options, listing }: Seed,
  storage: Storage,
): Steps<FileSamples> {
  const again = { ...options, storage, listing, onWarning() {} }; // the opening thread has called it already
  const fs = yield* perform({
    sync() {
      throw mustWait(path);
    },
    async: (signal) => open(path, { ...again, signal }),
  });
  const place = { path, options: again, isOpenedByPath: true };
  yield* requireListed(fs, files);
  return filesOf(fs, files, place);
}

function notOpenedByPath(location: string): DataError {
  return new DataError(
    "not-portable",
    `Cannot open ${location} again in the loader's worker threads: it was not opened by its path. ` +
      `Give openDataset() the path, or load with numWorkers: 0`,
    { path: location },
  );
}
