import { parseMountOptions } from "../../fuse/mount_options.ts";
import { MountError } from "../../fuse/mount_error.ts";
import { absolutePath } from "./absolute_path.ts";
import { UsageError } from "./exit.ts";
import { checkExt, checkGiven } from "./given.ts";
import { takeSourceOptions } from "./helper_form.ts";
import { report, warn } from "./messages.ts";

/** What to mount where. */
export interface MountJob {
  /** Path of the container, as it was given. */
  readonly source: string;
  /** Path of the directory, as it was given. */
  readonly mountpoint: string;
  /** The list after `-o`. */
  readonly options: string;
  readonly format: string | undefined;
  readonly ext: string | undefined;
  readonly decoded: boolean;
  readonly trace: boolean;
  /** Threads that serve the mount, unless the default is to hold. */
  readonly workers: number | undefined;
}

/** The options of `recordfs mount`. */
export interface MountCommandOptions {
  readonly foreground?: true | undefined;
  readonly options: readonly string[];
  readonly trace?: true | undefined;
  readonly workers?: number | undefined;
  readonly format?: string | undefined;
  readonly ext?: string | undefined;
  readonly decoded?: true | undefined;
  /** Set in the process that `recordfs mount` leaves in the background: the path of its record. */
  readonly background?: string | undefined;
}

/**
 * Runs `recordfs mount`. What each process does not need it does not load, since a mount should
 * answer soon after Deno has started.
 *
 * @throws {UsageError} If the command line is wrong.
 */
export async function mount(
  source: string,
  mountpoint: string,
  options: MountCommandOptions,
): Promise<void> {
  const job = makeJob(source, mountpoint, options);
  const { background, foreground } = options;
  if (background === undefined && !foreground) {
    const { mountInBackground } = await import("./background.ts");
    return await mountInBackground(job);
  }
  const [{ startServer }, { refuseStale }] = await Promise.all([
    import("../../fuse/start_server.ts"),
    import("./mount_state.ts"),
  ]);
  // Found out while the first thread of the server starts, for which this one has to wait.
  const fresh = refuseStale(absolutePath(mountpoint));
  fresh.catch(() => {}); // awaited by whoever mounts
  const server = startServer({
    workers: job.workers,
    onLog: warn,
    onTrace: job.trace ? report : undefined,
  });
  const { serveForeground, serveInBackground } = await import("./serve.ts");
  if (background === undefined) await serveForeground(job, { server, fresh });
  else await serveInBackground(job, background, { server, fresh });
}

function makeJob(
  source: string,
  mountpoint: string,
  { options, format, ext, decoded, trace, workers }: MountCommandOptions,
): MountJob {
  checkGiven(source, "the container");
  checkGiven(mountpoint, "the mountpoint");
  const taken = takeSourceOptions(options.join(","));
  const job: MountJob = {
    source,
    mountpoint,
    options: taken.rest,
    format: format ?? taken.format,
    ext: ext ?? taken.ext,
    decoded: decoded === true || taken.decoded === true,
    trace: trace === true,
    workers,
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
