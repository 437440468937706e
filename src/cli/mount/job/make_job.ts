import { parseMountOptions } from "../../../../fuse/mounting/mount_options.ts";
import { MountError } from "../../../../fuse/mounting/mount_error.ts";
import type { Shuffle } from "../../../data/trees/arrange_tree.ts";
import { asUsage, UsageError } from "../../exit.ts";
import {
  absolutePath,
  asUsageError,
  checkExt,
  checkGiven,
  parsePlaced,
  type PlacedSource,
} from "../../input/given.ts";
import { refuseWritable, takeSourceOptions } from "./helper_form.ts";
import type {
  MountCommandOptions,
  MountJob,
  ShownOptions,
} from "./mount_job.ts";

/** Epochs that one mount can show links for. */
const MOST_EPOCHS = 10_000;

/**
 * Makes of a command line what is to be mounted.
 *
 * @throws {UsageError} If it is wrong.
 */
export async function makeJob(
  given: readonly string[],
  mountpoint: string,
  options: MountCommandOptions,
): Promise<MountJob> {
  const sources = options.sources === undefined
    ? await readSources(given)
    : JSON.parse(options.sources) as readonly PlacedSource[];
  checkGiven(mountpoint, "the mountpoint");
  const list = options.options.join(",");
  // A server that goes on with a mount has what was accepted when that was made.
  if (options.background === undefined) refuseWritable(list);
  const { rest, ...taken } = takeSourceOptions(list);
  const { format, ext, decoded, prefix, subset, onFailure, ...others } = {
    ...taken,
    ...options,
  };
  if (subset !== undefined) checkGiven(subset, "the index file");
  const job: MountJob = {
    source: sources.map(({ location }) => location).join(":"),
    sources,
    mountpoint: absolutePath(mountpoint),
    options: options.verify === false
      ? [rest, "no_verify"].filter(Boolean).join()
      : rest,
    format,
    formatModules: await registered([
      ...taken.formatModule ?? [],
      ...options.formatModule ?? [],
    ]),
    ext,
    decoded: decoded === true,
    prefix,
    subset: subset === undefined ? undefined : absolutePath(subset),
    shuffle: parseShuffle(others),
    trace: options.trace === true,
    workers: options.workers,
    onFailure: onFailure ?? "dead",
  };
  checkExt(job);
  asUsage(MountError, () => parseMountOptions(job.options));
  return job;
}

/**
 * Reads the containers of a command line, and finds out where each of several is to show.
 *
 * @throws {UsageError} If that can't be.
 */
async function readSources(
  texts: readonly string[],
): Promise<readonly PlacedSource[]> {
  const given = texts.map(parsePlaced);
  for (const { location } of given) checkGiven(location, "the container");
  const [{ location, path }] = given as [PlacedSource];
  if (given.length === 1 && path === undefined) {
    return [{ location: absolutePath(location) }];
  }
  const [{ placeContainers }, { runSync }] = await Promise.all([
    import("../../../vfs/open_several.ts"),
    import("../../../io/concurrency/steps.ts"),
  ]);
  try {
    return runSync(placeContainers(given, {})).map(({ location, names }) => ({
      location: absolutePath(location),
      path: names.join("/"),
    }));
  } catch (error) {
    throw await asUsageError(error);
  }
}

async function registered(
  modules: readonly string[],
): Promise<readonly string[] | undefined> {
  if (modules.length === 0) return undefined;
  const { registerAll } = await import("../../input/format_modules.ts");
  return await registerAll(modules);
}

/** Reads the values of `--shuffle` and `--epoch`. */
function parseShuffle({ shuffle, epoch }: ShownOptions): Shuffle | undefined {
  if (shuffle === undefined) {
    if (epoch === undefined) return undefined;
    throw new UsageError("--epoch is of --shuffle, which is missing");
  }
  const seed = wholeNumber(shuffle);
  if (seed === undefined) {
    throw new UsageError(
      `--shuffle ${shuffle}: the seed must be a whole number from 0 to 2^53 - 1`,
    );
  }
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(epoch ?? "0") ?? [];
  const firstEpoch = wholeNumber(first ?? "");
  const lastEpoch = wholeNumber(last ?? first ?? "");
  if (
    firstEpoch === undefined || lastEpoch === undefined ||
    lastEpoch < firstEpoch || lastEpoch - firstEpoch >= MOST_EPOCHS
  ) {
    throw new UsageError(
      `--epoch ${epoch}: it must be a whole number, such as 3, or a range of up to ` +
        `${MOST_EPOCHS}, such as 0-9`,
    );
  }
  return { seed, firstEpoch, epochs: lastEpoch - firstEpoch + 1 };
}

function wholeNumber(text: string): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number)
    ? number
    : undefined;
}
