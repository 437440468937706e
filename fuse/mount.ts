import type { Tree } from "../src/tree/tree.ts";
import { newStat, ROOT } from "../src/tree/tree.ts";
import { lazySources, openedSources } from "../src/tree/joined_sources.ts";
import { attach } from "./mounting/attach.ts";
import { libc } from "./libc.ts";
import { Mapping, type MapsOfRemote } from "./content/mapping.ts";
import { FetchThread } from "./fetching/fetch_thread.ts";
import { isRemote } from "../src/tree/remote_parts.ts";
import { MOST_WORKERS } from "./limits.ts";
import type { KernelOptions } from "./mounting/mount_options.ts";
import { checkInteger, checkKernelOptions } from "./mounting/mount_options.ts";
import { type KeptMount, Mount } from "./mounting/mount_handle.ts";
import { checkMountpoint, resolveMountpoint } from "./mounting/mountpoint.ts";
import { withPermissionErrors } from "./mounting/permission_error.ts";
import type { Server } from "./server/server.ts";
import { startServer } from "./server/start_server.ts";
import type { Ownership } from "./wire/node_structs.ts";

/** Lets one action of each key run at a time, in the order in which they were asked for. */
class KeyedMutex {
  /** The last action of each key that has not ended; never rejects. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs an action when all earlier ones of the same key have ended. */
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

/** Two mounts at once would both find a directory empty, and take the upper one for their own. */
const mountpoints = new KeyedMutex();

/** Options to mount a tree. */
export interface MountOptions extends KernelOptions {
  /** Path of the container, or of each of several: shows as the mounted device, and must not hold the mount point. */
  readonly source?: string | readonly string[] | undefined;
  /** Threads that serve the mount, 1 to 64. Defaults to 3. */
  readonly workers?: number | undefined;
  /** Receives a message, once, for each different thing that goes wrong while serving. */
  readonly onLog?: ((message: string) => void) | undefined;
  /** Receives a line for each request that the kernel sends; slows the mount down. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/** A tree to be mounted, some of whose metadata may still have to be read and checked. */
export interface OpenedTree {
  readonly tree: Tree;
  /** Paths of the containers: show as the mounted device, and must not hold the mount point. */
  readonly containers: readonly string[];
  /**
   * Reads and checks the rest, while the mount may be used already. Where it rejects, nothing is
   * mounted.
   */
  complete(): Promise<void>;
}

/**
 * Mounts a tree, read-only, and serves it from threads of this process.
 *
 * The tree stays the caller's, to be closed after the mount has ended. Its containers must be files, in memory, or on
 * servers.
 *
 * @param mountpoint An empty directory.
 * @returns The mount, once it answers.
 * @throws {MountError} If it cannot be mounted; `code` says why.
 */
export function mountTree(
  tree: Tree,
  mountpoint: string,
  options: MountOptions = {},
): Promise<Mount> {
  const { source = [] } = options;
  const complete = () => Promise.resolve();
  const containers = typeof source === "string" ? [source] : source;
  const opened = { tree, containers, complete };
  return mountOpening(() => Promise.resolve(opened), mountpoint, options);
}

/** Work that {@linkcode mountOpening} need not do itself. */
export interface Beforehand {
  /** Server of the tree, where one was started before; it is ended if mounting fails. */
  readonly started?: Server | undefined;
  /** Removes a dead mount from the mount point, when all is ready to take its place. */
  readonly vacate?: (() => Promise<void>) | undefined;
}

/**
 * Mounts a tree that is opened while the threads that will serve it start.
 *
 * @param open Opens it.
 * @returns The mount, once it answers and all of the tree's metadata are checked.
 * @throws {MountError} If it cannot be mounted; `code` says why.
 */
export function mountOpening(
  open: () => Promise<OpenedTree>,
  mountpoint: string,
  options: Omit<MountOptions, "source">,
  { started, vacate }: Beforehand = {},
): Promise<Mount> {
  return withPermissionErrors(mountpoint, async () => {
    checkKernelOptions(options);
    checkInteger("workers", options.workers, 1, MOST_WORKERS);
    const server = started ?? startServer(options);
    // Begun now, since each of them waits for the system.
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
    // The thread gets ready while this one looks at the mount point.
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
      // From here on only the mount knows when no thread sends from the mapping any more.
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
 * Goes on with a mount whose server was killed.
 *
 * @param open Opens the tree that is mounted; it must be the same.
 * @param mountpoint Absolute, without symbolic links.
 * @param server Has the descriptors of the mount.
 * @returns The mount, once it answers; it may also have ended.
 * @throws {MountError} If it cannot be served. The mount is still there then.
 */
export async function resumeOpening(
  open: () => Promise<OpenedTree>,
  mountpoint: string,
  { kept, options, server }: {
    readonly kept: KeptMount;
    readonly options: Omit<MountOptions, "source">;
    readonly server: Server;
  },
): Promise<Mount> {
  const { tree, complete } = await open();
  await complete(); // what was damaged meanwhile must not be served
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

/** Too many files to map them all are mapped by the threads that need them. */
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
 * Starts the thread that fetches what of a tree lies on servers, if anything does. It ends with the server.
 *
 * @throws {RecordfsError} If something can't be opened there, or is not what it was.
 */
async function startFetching(
  tree: Tree,
  server: Server,
): Promise<{ thread: FetchThread; maps: MapsOfRemote } | undefined> {
  if (!isRemote(tree)) return undefined;
  const thread = new FetchThread(
    (message) => server.log(message),
    server.onTrace,
    (why) => server.fail(`the thread that fetches died: ${why}`),
  );
  server.stops.push(() => thread.stop()); // what it has counted is kept then
  return { thread, maps: await thread.open(tree) };
}

/** What several containers are called as a mounted device: as overlay and mergerfs do it, as far as there is room. */
export function deviceName(containers: readonly string[]): string {
  const all = containers.join(":");
  const others = containers.length - 1;
  return others === 0 || all.length <= MOST_DEVICE_NAME
    ? all
    : `${containers[0]} and ${others} others`;
}

const MOST_DEVICE_NAME = 1000;

function ownerOf({ uid, gid, umask }: KernelOptions): Ownership {
  return {
    uid: uid ?? libc().getuid(),
    gid: gid ?? libc().getgid(),
    umask: umask ?? 0,
  };
}

/** Serves what has just been mounted; {@linkcode Mount.start} takes its parts. */
async function serve(
  server: Server,
  { complete }: OpenedTree,
  parts: Parameters<typeof Mount.start>[0],
): Promise<Mount> {
  // Begun at once: the thread that serves may wait for a part of it, and the mount for that thread.
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
