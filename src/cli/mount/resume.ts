import {
  type MountContainerOptions,
  resumePath,
} from "../../../fuse/mount_container.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import type { Server } from "../../../fuse/server/server.ts";
import { RecordfsError } from "../../errors.ts";
import { jobIdentity } from "./container_identity.ts";
import { containersOf, sourcesOf } from "./job/job_sources.ts";
import type { MountJob } from "./job/mount_job.ts";
import type { MountRecord } from "./mount_records.ts";

/**
 * Goes on with a mount whose server died.
 *
 * @returns The mount, which serves, or has ended meanwhile.
 * @throws {RecordfsError} If the container is not the one that is mounted, or can't be opened any more.
 */
export async function resume(
  options: MountContainerOptions,
  record: MountRecord,
  server: Server,
): Promise<Mount> {
  const { mountpoint, device, container, job } = record;
  const { agreed } = record.supervised!;
  try {
    await expectSame(job, container);
    const kept = { device, agreed };
    return await resumePath(containersOf(job), mountpoint, {
      kept,
      options,
      server,
    });
  } catch (error) {
    server.abandon();
    throw error;
  }
}

/** Whether an error is about the container or the system, so that another try would end the same way. */
export function isFinal(error: unknown): boolean {
  return error instanceof RecordfsError && error.code !== "server";
}

async function expectSame(
  job: MountJob,
  container: string | null,
): Promise<void> {
  let now: string | undefined;
  try {
    now = await jobIdentity(job);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (now === container) return;
  const { source, subset } = job;
  throw new MountError(
    "changed",
    `Cannot go on serving ${source}: ${
      sourcesOf(job).length === 1 ? "it" : "one of them"
    } ${subset === undefined ? "" : `or its index file ${subset} `}was ${
      now === undefined ? "removed" : "changed or replaced"
    } since it was mounted, and the kernel remembers what it was; mount it again`,
    { path: source },
  );
}
