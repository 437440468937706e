import { parseMountOptions } from "../../../../fuse/mounting/mount_options.ts";
import { MountError } from "../../../../fuse/mounting/mount_error.ts";
import { UsageError } from "../../exit.ts";
import { checkExt, checkGiven, type PlacedSource } from "../../input/given.ts";
import { refuseWritable, takeSourceOptions } from "./helper_form.ts";
import { nameSources, readSources } from "./job_sources.ts";
import type { MountCommandOptions, MountJob } from "./mount_job.ts";
import type { Shuffle } from "./shuffle_option.ts";

/**
 * Makes of a command line what is to be mounted.
 *
 * @throws {UsageError} If it is wrong.
 */
export async function makeJob(
  given: readonly string[],
  mountpoint: string,
  {
    options,
    format,
    formatModule,
    ext,
    decoded,
    trace,
    workers,
    verify,
    ...others
  }: MountCommandOptions,
): Promise<MountJob> {
  const sources = others.sources === undefined
    ? await readSources(given)
    : JSON.parse(others.sources) as readonly PlacedSource[];
  checkGiven(mountpoint, "the mountpoint");
  const list = options.join(",");
  // A server that goes on with a mount has what was accepted when that was made.
  if (others.background === undefined) refuseWritable(list);
  const taken = takeSourceOptions(list);
  const subset = others.subset ?? taken.subset;
  if (subset !== undefined) checkGiven(subset, "the index file");
  const job: MountJob = {
    source: nameSources(sources),
    sources,
    mountpoint,
    options: verify === false
      ? [taken.rest, "no_verify"].filter(Boolean).join()
      : taken.rest,
    format: format ?? taken.format,
    formatModules: await registered(formatModule),
    ext: ext ?? taken.ext,
    decoded: decoded === true || taken.decoded === true,
    prefix: others.prefix ?? taken.prefix,
    subset,
    shuffle: await shuffleOf(
      others.shuffle ?? taken.shuffle,
      others.epoch ?? taken.epoch,
    ),
    trace: trace === true,
    workers,
    onFailure: others.onFailure ?? taken.onFailure ?? "dead",
  };
  checkExt(job);
  try {
    parseMountOptions(job.options); // wrong ones are a matter of the command line
  } catch (error) {
    if (error instanceof MountError) throw new UsageError(error.message);
    throw error;
  }
  return job;
}

async function shuffleOf(
  seed: string | undefined,
  epoch: string | undefined,
): Promise<Shuffle | undefined> {
  if (seed === undefined && epoch === undefined) return undefined;
  return (await import("./shuffle_option.ts")).parseShuffle(seed, epoch);
}

async function registered(
  modules: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (!modules?.length) return undefined;
  const { registerAll } = await import("../../input/format_modules.ts");
  return await registerAll(modules);
}
