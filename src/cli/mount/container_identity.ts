import { createHash } from "node:crypto";
import type { MountJob } from "./job/mount_job.ts";

/**
 * Tells one state of what a mount shows from another: of its containers, and of the index file that says what of
 * it shows.
 *
 * @throws {Deno.errors.NotFound} If a part of either is gone.
 */
export async function jobIdentity(
  job: Pick<MountJob, "sources" | "subset">,
): Promise<string> {
  const paths = job.sources.map(({ location }) => location);
  if (job.subset !== undefined) paths.push(job.subset);
  const identities: string[] = [];
  for (const path of paths) identities.push(await containerIdentity(path));
  return identities.join(" ");
}

/**
 * Tells one state of a container from another: by device, inode, size and modification time of its
 * file, or of all files and directories below it.
 *
 * @throws {Deno.errors.NotFound} If a part of it is gone.
 */
async function containerIdentity(path: string): Promise<string> {
  const hash = createHash("sha256");
  const visit = async (file: string): Promise<void> => {
    const { dev, ino, size, mtime, isDirectory } = await Deno.stat(file);
    const time = mtime?.getTime() ?? 0;
    hash.update(JSON.stringify([file, dev, ino, size, time]));
    if (!isDirectory) return;
    const names: string[] = [];
    for await (const { name } of Deno.readDir(file)) names.push(name);
    for (const name of names.sort()) await visit(`${file}/${name}`);
  };
  await visit(path);
  return hash.digest("hex");
}
