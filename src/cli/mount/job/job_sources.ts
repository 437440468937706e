import {
  absolutePath,
  asUsageError,
  parsePlaced,
  type PlacedSource,
} from "../../input/given.ts";
import type { MountJob } from "./mount_job.ts";

/** What of a job says which containers are mounted; jobs of earlier versions have no `sources`. */
type Sources = Pick<MountJob, "source"> & Partial<Pick<MountJob, "sources">>;

/**
 * Reads the containers of a command line, and finds out where each of several is to show.
 *
 * @throws {UsageError} If that can't be.
 */
export async function readSources(
  texts: readonly string[],
): Promise<readonly PlacedSource[]> {
  const given = texts.map(parsePlaced);
  if (given.length === 1 && given[0]!.path === undefined) return given;
  const [{ placeContainers }, { runSync }] = await Promise.all([
    import("../../../vfs/open_several.ts"),
    import("../../../io/concurrency/steps.ts"),
  ]);
  try {
    return runSync(placeContainers(given, {}))
      .map(({ location, names }) => ({ location, path: names.join("/") }));
  } catch (error) {
    throw await asUsageError(error);
  }
}

/** What messages and lists call the containers of a mount. */
export function nameSources(sources: readonly PlacedSource[]): string {
  return sources.map(({ location }) => location).join(":");
}

/** The containers of a job. */
export function sourcesOf(
  { source, sources = [{ location: source }] }: Sources,
): readonly PlacedSource[] {
  return sources;
}

/** The same as what opens them takes it: one that is mounted by itself is but its path. */
export function containersOf(
  job: Sources,
): string | readonly PlacedSource[] {
  const sources = sourcesOf(job);
  const [{ location, path }] = sources as [PlacedSource];
  return sources.length === 1 && path === undefined ? location : sources;
}

/** The same job with paths that do not depend on the working directory. */
export function absolute(job: MountJob): MountJob {
  const { mountpoint, subset } = job;
  const sources = job.sources.map((source) => ({
    ...source,
    location: absolutePath(source.location),
  }));
  return {
    ...job,
    source: nameSources(sources),
    sources,
    mountpoint: absolutePath(mountpoint),
    subset: subset === undefined ? undefined : absolutePath(subset),
  };
}
