import { FormatError, RecordfsError } from "../../base/errors.ts";
import { formats, loadFormat } from "../../formats/registry.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { ContainerOptions } from "../../tree/format.ts";
import {
  areLocated,
  listSamples,
  type SampleListing,
} from "../../tree/samples/sample_listing.ts";
import { findContainer, type FoundContainer } from "../find_format.ts";
import { open } from "../open.ts";

/**
 * Lists where the samples of a container lie, by its tables.
 *
 * @throws {FormatError} With code `unsupported` if they are not stored as one piece each; or if they cannot be counted.
 */
export async function listSamplesIn(
  location: string,
  options: Pick<ContainerOptions, "onWarning" | "storage"> & WaitOptions,
): Promise<SampleListing> {
  const { signal } = options;
  const { format: entry, ...found } = await formatOf(location, options);
  const format = await loadFormat(entry);
  if (format.listSamples !== undefined) {
    const { storage } = found.options;
    return await format.listSamples(found.path, { ...options, storage });
  }
  const forced = { ...options, format: entry.name, checkData: false };
  const container = await open(location, forced);
  try {
    const { samples } = container;
    if (!areLocated(samples)) throw notInOnePiece(location, entry.name);
    const close = () => container.close();
    return await runAsync(listSamples(samples, close), signal);
  } catch (error) {
    container.close();
    throw error;
  }
}

function notInOnePiece(location: string, format: string): FormatError {
  return new FormatError(
    "unsupported",
    `Cannot list the samples of ${location}: those of the format ${format} are not stored in one piece each. ` +
      "Inspect it with recordfs ls and info",
    { path: location },
  );
}

/** The format of a location; of a damaged file, which is none, the one that its name says. */
async function formatOf(
  location: string,
  { storage, signal }: Pick<ContainerOptions, "storage"> & WaitOptions,
): Promise<
  Pick<FoundContainer, "format" | "path"> & {
    readonly options: ContainerOptions;
  }
> {
  try {
    return await runAsync(findContainer(location, { storage }), signal);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    const named = formats().find(({ suffixes }) =>
      suffixes.some((suffix) => location.endsWith(suffix))
    );
    if (named === undefined) throw error;
    return { format: named, path: location, options: { storage } };
  }
}
