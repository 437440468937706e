import { isDeepStrictEqual } from "node:util";
import { DEFAULT_WORKERS } from "../../../fuse/limits.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { parseMountOptions } from "../../../fuse/mounting/mount_options.ts";
import { openDeferred } from "../../open/open_deferred.ts";
import { mountInBackground } from "./background.ts";
import { jobIdentity } from "./container_identity.ts";
import { Opening } from "../terminal/opening.ts";
import { containerOptions, containersOf } from "./job/job_container.ts";
import type { MountJob } from "./job/mount_job.ts";
import {
  keeperOf,
  mountAt,
  type MountRecord,
  readRecord,
  type RecordedMount,
  type SupervisedMount,
  whyNoOtherServer,
  writeHidden,
} from "./mount_records.ts";
import { findDead } from "./mount_state.ts";
import { isRunning, sendSignal } from "./processes.ts";
import { serverCommand } from "./supervisor.ts";

/** Interval at which to check whether the new server serves, in milliseconds. */
const LOOK_AGAIN_MS = 20;

/**
 * Replaces the server of a live mount by one with other options or of another version, while the mount is read. A dead
 * mount is mounted again. Throws if there is no such mount, its content would change (which the kernel would not
 * notice), or the new server cannot start; the mount then continues as before.
 */
export async function replaceServer(wanted: MountJob): Promise<void> {
  const mountpoint = await Deno.realPath(wanted.mountpoint)
    .catch(() => wanted.mountpoint);
  const job = { ...wanted, mountpoint };
  const mount = mountAt(mountpoint)?.records.find(({ record }) =>
    record.mountpoint === mountpoint && keeperOf(record) !== undefined
  );
  if (mount === undefined) {
    if (await findDead(mountpoint) !== undefined) {
      return await mountInBackground(wanted);
    }
    throw refusal("not-mounted", job, "nothing of yours is mounted there");
  }
  const { supervised } = mount.record;
  if (!supervised || !isRunning(supervised.supervisor)) {
    throw refusal(
      "refused",
      job,
      "its supervisor died, and has no replacement yet. Try again",
    );
  }
  if (!supervised.resumable) {
    const { container, log } = mount.record;
    throw refusal(
      "refused",
      job,
      whyNoOtherServer(supervised) ??
        (container === null
          ? `the mounted container is not recorded yet, or cannot be: see its log, ${log}`
          : `no other server can take over: see its log, ${log}`),
      container === null
        ? "Try again, or unmount it and mount it again"
        : "Unmount it, and mount it again",
    );
  }
  await refuseChanges(job, mount.record);
  await tryToOpen(job); // a server that cannot open it would end the mount
  await restart(job, mount, supervised);
}

async function tryToOpen(job: MountJob): Promise<void> {
  const options = containerOptions(job);
  using opening = new Opening();
  const containers = await containersOf(job, opening);
  const container = await openDeferred(containers, options);
  try {
    await (await options.arrange?.(container) ?? container).complete();
  } finally {
    container.tree.close();
  }
}

/** Options that determine the content, or that the kernel has cached. */
const KEPT: readonly (keyof MountJob)[] = [
  ...["format", "formatModules", "ext", "maxRatio", "decoded"] as const,
  ...["nested", "stripSuffix", "prefix", "subset", "shuffle"] as const,
];

async function refuseChanges(
  job: MountJob,
  { job: before, container, supervised }: MountRecord,
): Promise<void> {
  const { held } = supervised!;
  if (
    !isDeepStrictEqual(job.sources, before.sources) ||
    await jobIdentity(before) !== container
  ) {
    throw refusal(
      "changed",
      job,
      `the mounted container is ${before.source}${
        before.subset === undefined ? "" : ` with ${before.subset}`
      }. Unmount it, and mount it again`,
    );
  }
  const name = KEPT.find((name) => !isDeepStrictEqual(job[name], before[name]));
  const option = name !== undefined
    ? `--${name === "formatModules" ? "format-module" : name}`
    : isDeepStrictEqual(kernelOptions(job), kernelOptions(before))
    ? undefined
    : "-o";
  if (option !== undefined) {
    throw refusal(
      "bad-option",
      job,
      `${option} cannot change, since the kernel has cached the tree. Unmount it, and mount it again`,
    );
  }
  const { workers } = job;
  if (workers === undefined || workers <= held.length) return;
  throw refusal(
    "bad-option",
    job,
    `the limit of open files allowed it ${held.length} descriptors, too few for --workers ${workers}`,
  );
}

/** Mount options without `verify`, which only concerns the server. */
function kernelOptions({ options }: MountJob): unknown {
  const { verify: _, ...remembered } = parseMountOptions(options);
  return remembered;
}

async function restart(
  job: MountJob,
  { files, record: known }: RecordedMount,
  { held, counts }: SupervisedMount,
): Promise<void> {
  const record = readRecord(files) ?? known; // opening took a while
  const workers = job.workers ?? Math.min(held.length, DEFAULT_WORKERS);
  const command = serverCommand({
    job: { ...job, workers },
    files,
    held,
    counts: counts ?? -1,
  });
  writeHidden(files, job);
  const line = `set -- ${command.map(quote).join(" ")}\n`;
  files.write("next", `# replaces ${record.pid}\n${line}`);
  // The next server answers what this one has not. It may already be dead.
  sendSignal(record, "SIGKILL");
  while (true) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    const now = readRecord(files);
    if (now !== undefined && now.pid !== record.pid) break;
    if (now !== undefined && keeperOf(now) !== undefined) continue;
    throw refusal("server", job, `the mount has ended. See ${record.log}`);
  }
  if (files.rename("next", "command")) return;
  throw refusal(
    "server",
    job,
    `the new one died at its start, and one with the previous options serves. See ${record.log}`,
  );
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function refusal(
  code: MountError["code"],
  { mountpoint }: MountJob,
  reason: string,
  hint?: string,
): MountError {
  const rest = hint === undefined ? "" : `. ${hint}`;
  return new MountError(
    code,
    `Cannot replace the server of ${mountpoint}: ${reason}${rest}`,
    { path: mountpoint },
  );
}
