import { parseMountOptions } from "../../../../fuse/mounting/mount_options.ts";
import { MountError } from "../../../../fuse/mounting/mount_error.ts";
import type { Shuffle } from "../../../data/trees/arrange_tree.ts";
import { isUrl, shownLocation } from "../../../io/remote/remote_location.ts";
import { absoluteLocalPath } from "../../../io/storage/local_path.ts";
import { asUsage, UsageError } from "../../exit.ts";
import {
  absolutePath,
  asUsageError,
  checkExt,
  checkGiven,
  checkSource,
  parsePlaced,
  type PlacedSource,
} from "../../input/given.ts";
import { checkNested } from "../../input/nested_flag.ts";
import type { RemoteFlags } from "../../input/remote_flags.ts";
import { servedMountFiles } from "../mount_records.ts";
import { parseHidden } from "../record_shape.ts";
import {
  refuseWritable,
  SOURCE_OPTIONS,
  takeSourceOptions,
} from "./helper_form.ts";
import type {
  HiddenArguments,
  MountCommandOptions,
  MountJob,
  ShownOptions,
} from "./mount_job.ts";

const MOST_EPOCHS = 10_000;

/** @throws {UsageError} If the command line is wrong. */
export async function makeJob(
  given: readonly string[],
  mountpoint: string,
  options: MountCommandOptions,
): Promise<MountJob> {
  checkGiven(mountpoint, "the mountpoint");
  const list = options.options.join(",");
  // A server that resumes a mount gets options that were accepted before.
  if (options.background === undefined) refuseWritable(list);
  const { rest, ...taken } = takeSourceOptions(list);
  const { sources, remote } = await readSources(given, {
    ...taken,
    ...options,
  });
  const shown = { ...taken, ...options };
  const { format, ext, maxRatio, decoded, prefix, subset } = shown;
  const { nested, stripSuffix } = shown;
  const { onFailure, ...others } = shown;
  if (subset !== undefined) checkGiven(subset, "the index file");
  const job: MountJob = {
    source: sources.map(({ location }) => shownLocation(location)).join(":"),
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
    maxRatio,
    nested,
    stripSuffix,
    decoded: decoded === true,
    prefix,
    subset: subset === undefined ? undefined : absolutePath(subset),
    shuffle: parseShuffle(others),
    trace: options.trace === true,
    workers: options.workers,
    remote,
    onFailure: onFailure ?? "dead",
  };
  checkExt(job);
  checkNested(job);
  asUsage(MountError, () => parseMountOptions(job.options, SOURCE_OPTIONS));
  return job;
}

/** Parses the containers of a command line, and assigns a directory to each of several. */
async function readSources(
  texts: readonly string[],
  options: MountCommandOptions,
): Promise<Pick<MountJob, "sources" | "remote">> {
  if (options.hidden) return readHidden(options.background!);
  if (options.sources !== undefined) {
    return { sources: JSON.parse(options.sources) as readonly PlacedSource[] };
  }
  const given = texts.map(parsePlaced);
  for (const { location } of given) checkSource(location, "the container");
  const isRemote = given.some(({ location }) => isUrl(location));
  const remote = isRemote || areAboutCache(options)
    ? lastingFlags(options)
    : undefined;
  const [{ location, path }] = given as [PlacedSource];
  if (given.length === 1 && path === undefined) {
    const lasting = lastingLocation(location);
    return { sources: [{ location: lasting }], remote };
  }
  const [{ placeContainers }, { runAsync }, { remoteOf }] = await Promise.all([
    import("../../../open/open_several.ts"),
    import("../../../io/concurrency/steps.ts"),
    import("../../input/remote_flags.ts"),
  ]);
  try {
    const placed = await runAsync(
      placeContainers(given, { remote: remote && remoteOf(remote) }),
    );
    const sources = placed.map(({ names }, i) => ({
      location: lastingLocation(given[i]!.location),
      path: names.join("/"),
    }));
    return { sources, remote };
  } catch (error) {
    throw await asUsageError(error);
  }
}

function lastingLocation(location: string): string {
  if (isUrl(location)) return location;
  // Text in the braces of a pattern is not a directory name.
  return /[{]|::/.test(location)
    ? absoluteLocalPath(location)
    : absolutePath(location);
}

/** Whether options concern the cache, which also holds indexes of local containers. */
function areAboutCache(options: RemoteFlags): boolean {
  const { cache, cacheDir, cacheShared } = options;
  return cache === false || cacheDir !== undefined || cacheShared === true;
}

function lastingFlags(options: RemoteFlags): RemoteFlags {
  const absolute = (path: string | undefined) => path && absolutePath(path);
  return {
    header: options.header,
    headerFile: absolute(options.headerFile),
    cacert: absolute(options.cacert),
    endpoint: options.endpoint,
    addressing: options.addressing,
    region: options.region,
    profile: options.profile,
    anonymous: options.anonymous,
    requesterPays: options.requesterPays,
    cacheDir: absolute(options.cacheDir),
    cacheSize: options.cacheSize,
    cacheShared: options.cacheShared,
    cache: options.cache,
    timeout: options.timeout,
    maxRequests: options.maxRequests,
  };
}

/** @throws {NotPrivateError} If another user may have written the file. */
function readHidden(id: string): HiddenArguments {
  const files = servedMountFiles(id);
  const text = files.readText("hidden");
  if (text !== undefined) return parseHidden(text);
  throw new Deno.errors.NotFound(`${files.path("hidden")} is missing`);
}

async function registered(
  modules: readonly string[],
): Promise<readonly string[] | undefined> {
  if (modules.length === 0) return undefined;
  const { registerAll } = await import("../../input/format_modules.ts");
  return await registerAll(modules);
}

/** Parses `--shuffle` and `--epoch`. */
function parseShuffle({ shuffle, epoch }: ShownOptions): Shuffle | undefined {
  if (shuffle === undefined) {
    if (epoch === undefined) return undefined;
    throw new UsageError("--epoch needs --shuffle SEED");
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
