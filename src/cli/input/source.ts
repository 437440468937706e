import type { Storage } from "../../io/storage/storage.ts";
import { open } from "../../open/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { RateLimitedLog, warn } from "../messages.ts";
import { Opening } from "../terminal/opening.ts";
import {
  asUsageError,
  checkExt,
  checkGiven,
  checkSource,
  parsePlaced,
} from "./given.ts";
import type { CommonOptions } from "./options.ts";
import { checkNested } from "./nested_flag.ts";
import { remoteOf } from "./remote_flags.ts";
import { storages, storedLocation } from "./remote_storages.ts";

export interface OpenedSource {
  /** Its location in the storage. */
  readonly location: string;
  /** Its storage; `undefined` on the local disk. */
  readonly storage: Storage | undefined;
}

/** The opened containers of a command line, as one tree. */
export interface OpenedSources {
  readonly fs: VirtualFs;
  readonly sources: readonly OpenedSource[];
}

export interface SourceOptions extends CommonOptions {
  /** Whether to show the sample view. */
  readonly sampleView?: boolean | undefined;
  /** Whether another thread has already opened it, and reported its warnings. */
  readonly isAgain?: boolean | undefined;
  /** Indices of the samples to show, which another thread has read from the index file. */
  readonly chosen?: ArrayLike<number> & Iterable<number> | undefined;
}

/**
 * Opens a container, or several as one, as the command line specifies; of `--subset`, only those samples. Throws if
 * they do not fit into one tree, or the index file does not fit them.
 */
export async function openSource(
  source: string,
  options: CommonOptions,
): Promise<VirtualFs> {
  return (await openSources(source, options)).fs;
}

/** Like {@linkcode openSource}, with the locations and storages for opening the containers again. */
export async function openSources(
  source: string,
  options: SourceOptions,
): Promise<OpenedSources> {
  const { subset } = options;
  const { chosen = subset, sampleView } = options;
  if (subset !== undefined) checkGiven(subset, "the index file");
  const opened = await openWhole(source, options);
  if (chosen === undefined) return opened;
  const { onlyChosen } = await import("../../data/trees/chosen_samples.ts");
  // The sample view has other names; an index file has those of the files.
  const hash = sampleView ? () => hashOfFiles(source, options) : undefined;
  return { ...opened, fs: await onlyChosen(opened.fs, chosen, { hash }) };
}

/** Hashes the names of a container's samples as `split` does, without the sample view. */
async function hashOfFiles(
  source: string,
  options: SourceOptions,
): Promise<string> {
  const [{ hashOfNames }, { samplesOf }] = await Promise.all([
    import("../../data/trees/sample_names.ts"),
    import("../../tree/samples_of.ts"),
  ]);
  const files = { ...options, sampleView: false, isAgain: true };
  const { fs } = await openWhole(source, files);
  using container = fs;
  const { tree, info } = container;
  return await hashOfNames(tree, await samplesOf(tree), info);
}

async function openWhole(
  source: string,
  options: SourceOptions,
): Promise<OpenedSources> {
  const { format, ext, maxRatio, decoded, sampleView, verify } = options;
  const { add, prefix, isAgain, nested, stripSuffix } = options;
  checkSource(source, "the container");
  checkExt(options);
  checkNested(options);
  const warnings = new RateLimitedLog(isAgain ? () => {} : warn, options);
  using opening = isAgain ? new Opening(false) : new Opening();
  const all = {
    format,
    ext,
    maxRatio,
    remote: remoteOf(options),
    decoded,
    sampleView,
    nested,
    stripSuffix,
    prefix,
    checkData: verify,
    onWarning: (message: string) => warnings.add(message),
  };
  try {
    if (add === undefined) {
      const stored = await storedLocation(source, options, opening);
      const { location, storage } = stored;
      const fs = await open(location, { ...all, storage });
      return { fs, sources: [stored] };
    }
    const storageAt = await storages(options, opening);
    const sources: OpenedSource[] = [];
    const several = [source, ...add].map(parsePlaced).map((place) => {
      const storage = storageAt(place.location);
      const location = storage?.root ?? place.location;
      sources.push({ location, storage });
      return storage === undefined
        ? place
        : { ...place, location, options: { storage } };
    });
    return { fs: await open(several, all), sources };
  } catch (error) {
    throw await asUsageError(error);
  } finally {
    warnings.end();
  }
}
