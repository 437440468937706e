import { abortConnection, forceUnmount } from "./force_unmount.ts";
import type { Mapping } from "./mapping.ts";
import { MountError } from "./mount_error.ts";
import { findMount, type MountEntry, readMounts } from "./mountinfo.ts";
import { withPermissionErrors } from "./permission_error.ts";
import type { Server } from "./server.ts";
import { unmount, type UnmountOptions } from "./unmount.ts";

/** How a mount ended. */
export interface MountEnd {
  /** What went wrong, unless it was simply unmounted. */
  readonly failure: MountError | undefined;
}

/** How to end a mount of this process. */
export interface EndOptions extends UnmountOptions {
  /**
   * Ends it even when it is in use, which whoever uses it sees as `ENOTCONN` or `ECONNABORTED`: for
   * a process that has to end.
   */
  readonly force?: boolean | undefined;
}

/** A mounted tree, served by a thread of this process. */
export class Mount implements AsyncDisposable {
  /** Absolute path, without symbolic links. */
  readonly mountpoint: string;
  /** Resolves when the mount has ended, by whomever it was unmounted; never rejects. */
  readonly finished: Promise<MountEnd>;
  readonly #server: Server;
  #device: string | undefined;
  #ended = false;

  private constructor(mountpoint: string, server: Server, mapping: Mapping) {
    this.mountpoint = mountpoint;
    this.#server = server;
    this.finished = server.ended.then((failure) =>
      this.#finish(mapping, failure)
    );
  }

  /**
   * Has a server serve a mount that was just made.
   *
   * @param parts Its mount point, descriptor, server, and the mapping the server sends from, which
   * is disposed of at the end.
   * @returns The mount, once it answers.
   * @throws {MountError} If it does not; the mount is gone then.
   */
  static async start(
    { mountpoint, mapping, server, fd }: {
      readonly mountpoint: string;
      readonly mapping: Mapping;
      readonly server: Server;
      readonly fd: number;
    },
  ): Promise<Mount> {
    const mount = new Mount(mountpoint, server, mapping);
    try {
      await server.serve(fd);
      await Deno.stat(mountpoint);
      mount.#device = mount.#entry()?.device;
    } catch (error) {
      await unmount(mountpoint, true).catch(() => {}); // `error` is what matters
      throw error;
    }
    return mount;
  }

  /**
   * Unmounts.
   *
   * @returns When the mount has ended; with `lazy`, when it is out of the tree.
   * @throws {MountError} If it is in use, without `lazy` or `force`.
   */
  unmount(options: EndOptions = {}): Promise<void> {
    return withPermissionErrors(this.mountpoint, async () => {
      if (this.#ended) return;
      const entry = this.#entry();
      const present = entry !== undefined && entry.device === this.#device;
      if (options.force) await this.#force(present);
      else if (present) {
        await unmount(this.mountpoint, options.lazy === true);
        if (!options.lazy) await this.finished;
      } else if (!options.lazy && !this.#ended) {
        throw new MountError(
          "busy",
          `${this.mountpoint} was unmounted lazily and is still in use: it ends with its last user`,
          { path: this.mountpoint },
        );
      }
    });
  }

  /** Unmounts, by force if it is in use. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.unmount();
    } catch (error) {
      if (!(error instanceof MountError) || error.code !== "busy") throw error;
      await this.unmount({ force: true });
    }
  }

  async #force(present: boolean): Promise<void> {
    if (present) {
      await forceUnmount(this.mountpoint, this.#server);
    } else if (
      this.#device === undefined || !await abortConnection(this.#device)
    ) {
      return; // out of reach: it ends with its last user, or with this process
    }
    await this.finished;
  }

  async #finish(
    mapping: Mapping,
    failure: string | undefined,
  ): Promise<MountEnd> {
    this.#ended = true;
    mapping[Symbol.dispose]();
    if (failure === undefined) return { failure: undefined };
    const entry = this.#entry();
    if (entry?.device === this.#device) {
      await unmount(this.mountpoint, true).catch(() => {}); // or it would stay, without a server
    }
    return {
      failure: new MountError(
        "server",
        `The mount on ${this.mountpoint} ended: ${failure}`,
        { path: this.mountpoint },
      ),
    };
  }

  #entry(): MountEntry | undefined {
    return findMount(readMounts(), this.mountpoint);
  }
}
