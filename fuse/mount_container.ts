import type { DeferredContainer } from "../src/tree/format.ts";
import type { Tree } from "../src/tree/tree.ts";
import { shownLocation } from "../src/io/remote/remote_location.ts";
import { localPath } from "../src/io/storage/local_path.ts";
import { isRemote } from "../src/io/storage/stored_location.ts";
import type { OpenContainerOptions } from "../src/open/open.ts";
import type { SeveralLocations } from "../src/open/location.ts";
import { openDeferred } from "../src/open/open_deferred.ts";
import type { VirtualFs } from "../src/tree/vfs/virtual_fs.ts";
import {
  type Beforehand,
  mountOpening,
  mountTree,
  type OpenedTree,
  resumeOpening,
} from "./mount.ts";
import type { MountOptions } from "./mounting/mount_options.ts";
import type { LiveMount, Mount } from "./mounting/mount_handle.ts";
import type { Server } from "./server/server.ts";

/** Options to open a container and to mount it. */
export type MountContainerOptions = MountOptions & OpenContainerOptions;

/** Options to open and mount a container by its path. */
export interface MountPathOptions extends MountOptions, OpenContainerOptions {
  /** Returns the tree to show in place of the opened one, which it then owns and closes. */
  readonly arrange?:
    | ((container: DeferredContainer) => Promise<DeferredContainer>)
    | undefined;
}

/**
 * Mounts a container read-only, so that every program sees its content as files; or several containers, each in
 * its own directory. Linux only. Ordinary users need `fusermount3` (Debian package `fuse3`).
 *
 * @param source Path of the container, or of several, as for `open`.
 * @param mountpoint An empty directory.
 * @param options `checkData` says whether to verify checksums of metadata when the container is opened, `verify`
 * whether to verify those of files.
 * @returns The mount, once it answers.
 * @throws {MountError} If mounting fails; `code` says why.
 * @throws {FormatError} If the source is not a known container, or is damaged.
 *
 * @example Mount for as long as a block runs
 * ```ts
 * import { mount } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * const mountpoint = await Deno.makeTempDir();
 * {
 *   await using _mount = await mount("test/golden/ffrecord/packed_tree/sample_10.ffr", mountpoint);
 *   const ls = new Deno.Command("ls", { args: [mountpoint] });
 *   assert.match(new TextDecoder().decode((await ls.output()).stdout), /^words$/m);
 * }
 * await Deno.remove(mountpoint); // empty again
 * ```
 */
export function mount(
  source: string | URL | SeveralLocations<string | URL>,
  mountpoint: string,
  options?: MountOptions & OpenContainerOptions,
): Promise<Mount>;
/**
 * Mounts an opened container read-only.
 *
 * @param source The opened container. The caller closes it, and only after the mount has ended.
 * @param mountpoint An empty directory.
 * @returns The mount, once it answers.
 * @throws {MountError} If mounting fails; `code` says why.
 */
export function mount(
  source: VirtualFs,
  mountpoint: string,
  options?: MountOptions,
): Promise<Mount>;
export async function mount(
  source: string | URL | SeveralLocations<string | URL> | VirtualFs,
  mountpoint: string,
  options: MountOptions & OpenContainerOptions = {},
): Promise<Mount> {
  const { resolve } = await import("node:path"); // imported here, since `mountPath` starts faster without it
  const absolute = (location: string | URL) =>
    isRemote(location) ? String(location) : resolve(localPath(location));
  if (typeof source === "string" || source instanceof URL) {
    return await mountPath(absolute(source), mountpoint, options);
  }
  if (isList(source)) {
    const places = source.map((one) =>
      typeof one === "string" || one instanceof URL
        ? { location: absolute(one) }
        : { ...one, location: absolute(one.location) }
    );
    return await mountPath(places, mountpoint, options);
  }
  const { containers } = source.info;
  return await mountTree(source.tree, mountpoint, {
    ...options,
    source: containers === undefined
      ? absolute(source.location)
      : containers.map(({ location }) => absolute(location)),
  });
}

/** Narrows to lists: `Array.isArray` does not narrow read-only arrays. */
function isList<T>(source: readonly T[] | VirtualFs): source is readonly T[] {
  return Array.isArray(source);
}

/** A container given by its absolute path, and the directory that it shows in among others. */
export type PlacedPath = Exclude<
  SeveralLocations<string>[number],
  string | URL
>;

/** Mounts containers by their absolute paths. */
export function mountPath(
  path: string | readonly PlacedPath[],
  mountpoint: string,
  options: MountPathOptions,
  beforehand?: Beforehand,
): Promise<Mount> {
  return withTreeOf(
    path,
    options,
    (open) => mountOpening(open, mountpoint, options, beforehand),
  );
}

/** Resumes a mount whose server was killed. The containers at the absolute paths must be unchanged. */
export function resumePath(
  path: string | readonly PlacedPath[],
  mountpoint: string,
  { kept, options, server }: {
    readonly kept: LiveMount;
    readonly options: MountPathOptions;
    readonly server: Server;
  },
): Promise<Mount> {
  return withTreeOf(
    path,
    options,
    (open) => resumeOpening(open, mountpoint, { kept, options, server }),
  );
}

/** Mounts a container, and closes it when the mount has ended or mounting failed. */
async function withTreeOf(
  path: string | readonly PlacedPath[],
  options: MountPathOptions,
  make: (open: () => Promise<OpenedTree>) => Promise<Mount>,
): Promise<Mount> {
  let tree: Tree | undefined;
  try {
    const mounted = await make(async () => {
      let container = await openDeferred(path, options);
      tree = container.tree;
      if (options.arrange) {
        container = await options.arrange(container);
        tree = container.tree;
      }
      const given = typeof path === "string"
        ? [path]
        : path.map(({ location }) => location);
      const containers = given.map(shownLocation);
      return { tree, containers, complete: container.complete };
    });
    mounted.finished.then(() => tree?.close());
    return mounted;
  } catch (error) {
    tree?.close();
    throw error;
  }
}
