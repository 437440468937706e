import { absolutePath } from "../input/absolute_path.ts";
import { parseMountOptions } from "../../../fuse/mounting/mount_options.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { UsageError } from "../exit.ts";
import { checkExt, checkGiven } from "../input/given.ts";
import { refuseWritable, takeSourceOptions } from "./helper_form.ts";
import type { PlacedSource } from "../input/placed_source.ts";
import { nameSources, readSources } from "./job_sources.ts";
import { report } from "../messages.ts";
import type { Shuffle } from "./shuffle_option.ts";

/** What to mount where. */
export interface MountJob {
  /** What messages call the container, or all of them. */
  readonly source: string;
  /** The containers, in the order of their samples; where each of several shows. */
  readonly sources: readonly PlacedSource[];
  /** Path of the directory, as it was given. */
  readonly mountpoint: string;
  /** The list after `-o`. */
  readonly options: string;
  readonly format: string | undefined;
  /** URLs of the modules of formats that the container may be of. */
  readonly formatModules: readonly string[] | undefined;
  readonly ext: string | undefined;
  readonly decoded: boolean;
  /** The directory that is to be the root, if not all is to show. */
  readonly prefix: string | undefined;
  /** Path of the index file that says which samples show, as it was given. */
  readonly subset: string | undefined;
  /** Which links show beside the samples. */
  readonly shuffle: Shuffle | undefined;
  readonly trace: boolean;
  /** Threads that serve the mount, unless the default is to hold. */
  readonly workers: number | undefined;
  /** What becomes of the mount when nothing can serve it any more: it stays, dead, or is unmounted. */
  readonly onFailure: "dead" | "unmount";
}

/** The options of `recordfs mount`. */
export interface MountCommandOptions {
  readonly foreground?: true | undefined;
  readonly options: readonly string[];
  readonly trace?: true | undefined;
  readonly workers?: number | undefined;
  readonly format?: string | undefined;
  readonly formatModule?: readonly string[] | undefined;
  readonly ext?: string | undefined;
  readonly decoded?: true | undefined;
  readonly prefix?: string | undefined;
  readonly subset?: string | undefined;
  readonly shuffle?: string | undefined;
  readonly epoch?: string | undefined;
  /** False after `--no-verify`. */
  readonly verify?: boolean | undefined;
  readonly onFailure?: MountJob["onFailure"] | undefined;
  readonly replace?: true | undefined;
  /** Set in the process that `recordfs mount` leaves in the background: the path of its record. */
  readonly background?: string | undefined;
  /** Likewise: the containers, as the job has them, where plain paths would not do. */
  readonly sources?: string | undefined;
  /** Likewise: the descriptors of /dev/fuse that it inherited. */
  readonly held?: string | undefined;
  /** Likewise: the descriptor of what its threads count in, or -1. */
  readonly counts?: string | undefined;
}

/**
 * Runs `recordfs mount`. What each process does not need it does not load, since a mount should
 * answer soon after Deno has started.
 *
 * @throws {UsageError} If the command line is wrong.
 */
export async function mount(
  sources: readonly string[],
  mountpoint: string,
  options: MountCommandOptions,
): Promise<void> {
  const job = await makeJob(sources, mountpoint, options);
  const { background, foreground, replace } = options;
  if (replace) {
    if (foreground) {
      throw new UsageError("--replace is for mounts in the background, not -f");
    }
    const { replaceServer } = await import("./replace.ts");
    return await replaceServer(job);
  }
  if (background === undefined && !foreground) {
    const { mountInBackground } = await import("./background.ts");
    return await mountInBackground(job);
  }
  const [
    { startServer },
    { parseHeld },
    { vacancy },
    { logOf, readRecord },
    { logTo },
  ] = await Promise.all([
    import("../../../fuse/server/start_server.ts"),
    import("../../../fuse/server/held_descriptors.ts"),
    import("./mount_state.ts"),
    import("./mount_records.ts"),
    import("./mount_log.ts"),
  ]);
  // There is one where the server of the mount died, which this one is to go on with.
  const record = background === undefined ? undefined : readRecord(background);
  // Found out while the first thread of the server starts, for which this one has to wait.
  const vacated = record === undefined
    ? vacancy(absolutePath(mountpoint))
    : Promise.resolve(undefined);
  vacated.catch(() => {}); // awaited by whoever mounts
  const held = parseHeld(options.held ?? "");
  const counts = Number(options.counts ?? -1);
  const log = background === undefined ? report : logTo(logOf(background));
  const failed = Promise.withResolvers<string>();
  const server = startServer({
    workers: job.workers,
    onLog: (message) => log(`warning: ${message}`),
    onTrace: job.trace ? log : undefined,
    held: held.length === 0 ? undefined : held,
    counts: counts < 0 ? undefined : counts,
    onFailure: failed.resolve,
  });
  const begun = { server, vacated, held, counts, failed: failed.promise, log };
  if (background === undefined) {
    const { serveForeground } = await import("./serve.ts");
    await serveForeground(job, begun);
  } else {
    const { serveInBackground } = await import("./serve_background.ts");
    await serveInBackground(job, { path: background, record }, begun);
  }
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
  const { registerAll } = await import("../input/format_modules.ts");
  return await registerAll(modules);
}

async function makeJob(
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
