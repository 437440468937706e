import { UsageError } from "../exit.ts";
import { report, warn } from "../messages.ts";
import { makeJob } from "./job/make_job.ts";
import type { MountCommandOptions } from "./job/mount_job.ts";
import type { MountFiles } from "./mount_files.ts";
import { StateDirectoryError } from "./state_directories.ts";
import { inFlags } from "../flag_words.ts";

/** Runs `recordfs mount`. Each process loads only what it needs, since a mount should answer soon after Deno starts. */
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
  const isBackground = background !== undefined;
  const [
    { startServer },
    { parseHeld },
    { vacancy },
    { newMountFiles, readRecord, servedMountFiles },
    { logTo },
  ] = await Promise.all([
    import("../../../fuse/server/start_server.ts"),
    import("../../../fuse/server/held_descriptors.ts"),
    import("./mount_state.ts"),
    import("./mount_records.ts"),
    import("./mount_log.ts"),
  ]);
  const files = isBackground
    ? servedMountFiles(background)
    : filesIfPossible(newMountFiles);
  // If there is a record, the mount's server died, and this one resumes the mount.
  const record = isBackground ? readRecord(files!) : undefined;
  // Runs while the first thread of the server starts, which this process has to wait for anyway.
  const vacated = record === undefined
    ? vacancy(job.mountpoint)
    : Promise.resolve(undefined);
  vacated.catch(() => {}); // awaited when mounting
  const held = parseHeld(options.held ?? "");
  const counts = Number(options.counts ?? -1);
  const log = isBackground ? logTo(files!) : report;
  const failed = Promise.withResolvers<string>();
  const server = startServer({
    workers: job.workers,
    onLog: (message, options) => log(`warning: ${inFlags(message, options)}`),
    onTrace: job.trace ? log : undefined,
    held: held.length === 0 ? undefined : held,
    counts: counts < 0 ? undefined : counts,
    onFailure: failed.resolve,
  });
  const { serve } = await import("./serve.ts");
  await serve({
    ...{ job, files, record, isBackground, server, vacated, held, counts },
    failed: failed.promise,
    say: isBackground
      ? (message) => log(`${new Date().toISOString()} ${message}`)
      : report,
    ending: new AbortController(),
  });
}

/** Creates the mount's files if possible; a mount in the foreground works without them. */
function filesIfPossible(make: () => MountFiles): MountFiles | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof StateDirectoryError)) throw error;
    warn(`${error.reason}. \`recordfs mounts\` shows little of this mount`);
    return undefined;
  }
}
