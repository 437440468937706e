import type { Tree } from "../src/tree/tree.ts";
import { newStat, ROOT } from "../src/tree/tree.ts";
import { lazySources, openedSources } from "../src/tree/joined_sources.ts";
import { attach } from "./mounting/attach.ts";
import { libc } from "./libc.ts";
import { Mapping, type MapsOfRemote } from "./content/mapping.ts";
import { FetchThread } from "./fetching/fetch_thread.ts";
import { isRemote } from "../src/tree/remote_parts.ts";
import { MOST_WORKERS } from "./limits.ts";
import type { MountOptions } from "./mounting/mount_options.ts";
import { checkInteger, checkKernelOptions } from "./mounting/mount_options.ts";
import { type LiveMount, Mount } from "./mounting/mount_handle.ts";
import { checkMountpoint, resolveMountpoint } from "./mounting/mountpoint.ts";
import { withPermissionErrors } from "./mounting/permission_error.ts";
import type { Server } from "./server/server.ts";
import { startServer } from "./server/start_server.ts";
import type { Ownership } from "./wire/node_structs.ts";

/** Mutex per key. Runs the actions of each key one at a time, in call order. */
class KeyedMutex {
  /** Last pending action of each key; never rejects. */
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(action);
    const ended = result.then(() => {}, () => {});
    this.#last.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}

/** Two concurrent mounts would both find the directory empty, and both take the upper mount for their own. */
const mountpoints = new KeyedMutex();

/** Options to mount a tree. */
export interface MountTreeOptions extends MountOptions {
  /** Path of the container, or of several: shown as the mounted device. Must not contain the mount point. */
  readonly source?: string | readonly string[] | undefined;
}

/** A tree to mount, some of whose metadata may not have been read and checked yet. */
export interface OpenedTree {
  readonly tree: Tree;
  /** Paths of the containers: shown as the mounted device. Must not contain the mount point. */
  readonly containers: readonly string[];
  /** Reads and checks the rest, while the mount may already be in use. If it rejects, the mount is removed. */
  complete(): Promise<void>;
}

/**
 * Mounts a tree read-only, and serves it from threads of this process.
 *
 * The caller closes the tree after the mount has ended. Its sources must be files, in memory, or on servers.
 *
 * @param mountpoint An empty directory.
 * @returns The mount, once it answers.
 * @throws {MountError} If mounting fails; `code` says why.
 */
export function mountTree(
  tree: Tree,
  mountpoint: string,
  options: MountTreeOptions = {},
): Promise<Mount> {
  const { source = [] } = options;
  const complete = () => Promise.resolve();
  const containers = typeof source === "string" ? [source] : source;
  const opened = { tree, containers, complete };
  return mountOpening(() => Promise.resolve(opened), mountpoint, options);
}

/** Preparations already made for {@linkcode mountOpening}. */
export interface Beforehand {
  /** Server that was already started. It is stopped if mounting fails. */
  readonly started?: Server | undefined;
  /** Removes a dead mount from the mount point, once everything is ready to replace it. */
  readonly vacate?: (() => Promise<void>) | undefined;
}

/**
 * Mounts a tree that is opened while the serving threads start.
 *
 * @param open Opens the tree.
 * @returns The mount, once it answers and all metadata of the tree have been checked.
 * @throws {MountError} If mounting fails; `code` says why.
 */
export function mountOpening(
  open: () => Promise<OpenedTree>,
  mountpoint: string,
  options: MountOptions,
  { started, vacate }: Beforehand = {},
): Promise<Mount> {
  return withPermissionErrors(mountpoint, async () => {
    checkKernelOptions(options);
    checkInteger("workers", options.workers, 1, MOST_WORKERS);
    const server = started ?? startServer(options);
    // Started now, since both wait for the system.
    const path = vacate ? undefined : resolveMountpoint(mountpoint);
    path?.catch(() => {}); // awaited below, if nothing fails before
    const resolve = async (prepared: Promise<void>) => {
      if (vacate !== undefined) {
        await prepared;
        await vacate();
      }
      return await (path ?? resolveMountpoint(mountpoint));
    };
    try {
      return await mountOpened(server, await open(), resolve, options);
    } catch (error) {
      server.abandon();
      throw error;
    }
  });
}

async function mountOpened(
  server: Server,
  opened: OpenedTree,
  resolve: (prepared: Promise<void>) => Promise<string>,
  options: MountOptions,
): Promise<Mount> {
  const { tree, containers } = opened;
  tree.stat(ROOT, newStat());
  const fetching = await startFetching(tree, server);
  const mapping = mapOpened(tree, fetching?.maps);
  let begun = false;
  try {
    // The thread prepares while this one checks the mount point.
    const prepared = server.prepare({
      tree,
      sources: mapping?.sources,
      verify: options.verify ?? true,
      owner: ownerOf(options),
      fetching: fetching?.thread,
    });
    prepared.catch(() => {}); // awaited below, if nothing fails before
    const mountpoint = await resolve(prepared);
    return await mountpoints.run(mountpoint, async () => {
      const nonEmpty = options.nonEmpty === true;
      await checkMountpoint(mountpoint, { tree, containers, nonEmpty });
      await prepared;
      const fd = await attach({
        mountpoint,
        fsname: options.fsname ?? (deviceName(containers) || "recordfs"),
        subtype: options.subtype ?? "recordfs",
        options,
      });
      // From here on, only the mount knows when no thread sends from the mapping any more.
      begun = true;
      const parts = { mountpoint, mapping, server, fd };
      const mount = await serve(server, opened, parts);
      fetching?.thread.mounted({ device: mount.device });
      return mount;
    });
  } catch (error) {
    if (!begun) mapping?.[Symbol.dispose]();
    throw error;
  }
}

/**
 * Resumes a mount whose server was killed.
 *
 * @param open Opens the mounted tree; it must be unchanged.
 * @param mountpoint Absolute path without symbolic links.
 * @param server Holds the descriptors of the mount.
 * @returns The mount, once it answers; it may also have ended.
 * @throws {MountError} If it cannot be served. The mount then still exists.
 */
export async function resumeOpening(
  open: () => Promise<OpenedTree>,
  mountpoint: string,
  { kept, options, server }: {
    readonly kept: LiveMount;
    readonly options: MountOptions;
    readonly server: Server;
  },
): Promise<Mount> {
  const { tree, complete } = await open();
  await complete(); // a container damaged meanwhile must not be served
  tree.stat(ROOT, newStat());
  const fetching = await startFetching(tree, server);
  const mapping = mapOpened(tree, fetching?.maps);
  const sources = mapping?.sources;
  await server.prepare({
    tree,
    sources,
    verify: options.verify ?? true,
    owner: ownerOf(options),
    fetching: fetching?.thread,
  });
  fetching?.thread.mounted({ device: kept.device });
  const mount = await Mount.resume({ mountpoint, mapping, server }, kept);
  await server.expand();
  return mount;
}

/** Maps the open sources of a tree. Returns `undefined` if all are lazy: each thread maps those it needs. */
function mapOpened(
  { sources }: Tree,
  remote: MapsOfRemote | undefined,
): Mapping | undefined {
  const opened = openedSources(sources);
  return opened.length > 0 || lazySources(sources).length === 0
    ? Mapping.of(opened, remote)
    : undefined;
}

/**
 * Starts the fetch thread if a tree has remote sources. It stops with the server.
 *
 * @throws {RecordfsError} If a remote object cannot be opened, or has changed.
 */
async function startFetching(
  tree: Tree,
  server: Server,
): Promise<{ thread: FetchThread; maps: MapsOfRemote } | undefined> {
  if (!isRemote(tree)) return undefined;
  const thread = new FetchThread(
    (message, options) => server.log(message, options),
    server.onTrace,
    (why) => server.fail(`its fetch thread died: ${why}`),
  );
  server.stops.push(() => thread.stop()); // saves its counts
  return { thread, maps: await thread.open(tree) };
}

/** Device name of several containers: joined by colons like overlay and mergerfs do, if short enough. */
export function deviceName(containers: readonly string[]): string {
  const all = containers.join(":");
  const others = containers.length - 1;
  return others === 0 || all.length <= MOST_DEVICE_NAME
    ? all
    : `${containers[0]} and ${others} others`;
}

const MOST_DEVICE_NAME = 1000;

function ownerOf({ uid, gid, umask }: MountOptions): Ownership {
  return {
    uid: uid ?? libc().getuid(),
    gid: gid ?? libc().getgid(),
    umask: umask ?? 0,
  };
}

/** Serves a new mount. {@linkcode Mount.start} takes over the parts. */
async function serve(
  server: Server,
  { complete }: OpenedTree,
  parts: Parameters<typeof Mount.start>[0],
): Promise<Mount> {
  // Started at once: the serving thread may wait for a part of it, and the mount for that thread.
  const completed = complete();
  completed.catch(() => {}); // awaited below, if nothing fails before
  const mount = await Mount.start(parts);
  try {
    await completed;
  } catch (error) {
    await mount.unmount({ force: true });
    throw error;
  }
  await server.expand();
  return mount;
}
