import { UsageError } from "../exit.ts";
import { absolutePath } from "../input/given.ts";
import { report } from "../messages.ts";
import { makeJob } from "./job/make_job.ts";
import type { MountCommandOptions } from "./job/mount_job.ts";

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
