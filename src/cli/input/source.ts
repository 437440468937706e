import { open } from "../../vfs/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../vfs/virtual_fs.ts";
import { Flood, warn } from "../messages.ts";
import { Opening } from "../terminal/opening.ts";
import { asUsageError, checkExt, checkSource, parsePlaced } from "./given.ts";
import type { CommonOptions } from "./options.ts";
import { storages, storedLocation } from "./remote_storages.ts";

/**
 * Opens a container, or several as one, as the command line asks for.
 *
 * @throws {UsageError} If several can't stand in one tree.
 */
export async function openSource(
  source: string,
  options: CommonOptions,
): Promise<VirtualFs> {
  const { format, ext, decoded, verify, add, prefix } = options;
  checkSource(source, "the container");
  checkExt(options);
  const warnings = new Flood(warn, options);
  using opening = new Opening();
  const all = {
    format,
    ext,
    decoded,
    prefix,
    checkData: verify,
    onWarning: (message: string) => warnings.add(message),
  };
  try {
    if (add === undefined) {
      const { location, storage } = await storedLocation(
        source,
        options,
        opening,
      );
      return await open(location, { ...all, storage });
    }
    const storageAt = await storages(options, opening);
    const several = [source, ...add].map(parsePlaced).map((place) => {
      const storage = storageAt(place.location);
      return storage === undefined
        ? place
        : { ...place, location: storage.root, options: { storage } };
    });
    return await open(several, all);
  } catch (error) {
    throw await asUsageError(error);
  } finally {
    warnings.end();
  }
}
