import type { Storage } from "../../io/storage/storage.ts";
import { open } from "../../open/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { Flood, warn } from "../messages.ts";
import { Opening } from "../terminal/opening.ts";
import { asUsageError, checkExt, checkSource, parsePlaced } from "./given.ts";
import type { CommonOptions } from "./options.ts";
import { storages, storedLocation } from "./remote_storages.ts";

/** A container as it was opened. */
export interface OpenedSource {
  /** Where it lies in the storage. */
  readonly location: string;
  /** What reaches it; `undefined` on the local disk. */
  readonly storage: Storage | undefined;
}

/** What a command line names, opened: one tree of it all. */
export interface OpenedSources {
  readonly fs: VirtualFs;
  /** In the order of the command line. */
  readonly sources: readonly OpenedSource[];
}

/** How the command line wants a container opened. */
export interface SourceOptions extends CommonOptions {
  /** Whether samples show as rows. */
  readonly asRows?: boolean | undefined;
  /** Whether another thread has opened it before, and said what there is to say. */
  readonly isAgain?: boolean | undefined;
}

/**
 * Opens a container, or several as one, as the command line asks for.
 *
 * @throws {UsageError} If several can't stand in one tree.
 */
export async function openSource(
  source: string,
  options: CommonOptions,
): Promise<VirtualFs> {
  return (await openSources(source, options)).fs;
}

/** {@linkcode openSource}, with what is needed to open them again. */
export async function openSources(
  source: string,
  options: SourceOptions,
): Promise<OpenedSources> {
  const { format, ext, decoded, asRows, verify, add, prefix, isAgain } =
    options;
  checkSource(source, "the container");
  checkExt(options);
  const warnings = new Flood(isAgain ? () => {} : warn, options);
  using opening = isAgain ? new Opening(false) : new Opening();
  const all = {
    format,
    ext,
    decoded,
    asRows,
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
