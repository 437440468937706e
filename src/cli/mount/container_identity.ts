import { createHash } from "node:crypto";
import { runAsync } from "../../io/concurrency/steps.ts";
import { RemoteStorage } from "../../io/remote/remote_storage.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import { loadFormat } from "../../formats/registry.ts";
import { compressedPattern } from "../../open/compressed.ts";
import { findPattern } from "../../open/recognise.ts";
import { outermost } from "../../open/nested.ts";
import { storages } from "../input/remote_storages.ts";
import type { MountJob } from "./job/mount_job.ts";

/**
 * Returns a hash of the current state of what a mount shows: its containers, and the index file of `--subset`.
 *
 * @throws {Deno.errors.NotFound} If a part of either is gone.
 */
export async function jobIdentity(
  job: Pick<MountJob, "sources" | "subset" | "remote">,
): Promise<string> {
  const paths = job.sources.map(({ location }) => location);
  if (job.subset !== undefined) paths.push(job.subset);
  const storageAt = job.remote &&
    await storages(job.remote, { believesCache: true });
  const identities: string[] = [];
  for (const path of paths) {
    const given = storageAt?.(path);
    const { path: outer, storage } = await runAsync(
      outermost(given?.root ?? path, given ?? LOCAL_DISK),
    );
    const all = await pathsOf(outer, storage);
    identities.push(
      storage instanceof RemoteStorage
        ? await remoteIdentity(all, storage)
        : await containerIdentity(all),
    );
  }
  return identities.join(" ");
}

/** Returns the path itself, or the files that a pattern matches. */
async function pathsOf(
  path: string,
  storage: Storage,
): Promise<readonly string[]> {
  const compressed = await runAsync(compressedPattern(path, { storage }));
  if (compressed !== undefined) return compressed.stored;
  const found = await runAsync(findPattern(path, storage));
  const { patternPaths } = found === undefined ? {} : await loadFormat(found);
  return patternPaths === undefined
    ? [path]
    : await runAsync(patternPaths(path, storage));
}

/**
 * Hashes the state of a remote container: the tag of its file, or the listing of all files below it. A cache may
 * answer.
 */
async function remoteIdentity(
  paths: readonly string[],
  storage: RemoteStorage,
): Promise<string> {
  const hash = createHash("sha256");
  const visit = async (path: string): Promise<void> => {
    const facts = await runAsync(storage.stat(path));
    if (!facts?.isDirectory) {
      const source = await runAsync(storage.open(path));
      hash.update(JSON.stringify([path, source.size, source.tag]));
      source.close();
      return;
    }
    const names = await runAsync(storage.list(path)) ?? [];
    for (const name of names.toSorted()) {
      const entry = await runAsync(storage.stat(`${path}/${name}`));
      hash.update(JSON.stringify([name, entry?.size, entry?.mtime]));
      if (entry?.isDirectory) await visit(`${path}/${name}`);
    }
  };
  for (const path of paths) await visit(path);
  return hash.digest("hex");
}

/**
 * Hashes the state of a local container: device, inode, size and modification time of its file, or of all files and
 * directories below it.
 */
async function containerIdentity(paths: readonly string[]): Promise<string> {
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
  for (const path of paths) await visit(path);
  return hash.digest("hex");
}
