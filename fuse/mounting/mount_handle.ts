import { abortConnection, forceUnmount } from "./force_unmount.ts";
import type { Agreed } from "../server/connection_state.ts";
import type { Mapping } from "../content/mapping.ts";
import { MountError } from "./mount_error.ts";
import { findMount, type MountEntry, readMounts } from "./mountinfo.ts";
import { withPermissionErrors } from "./permission_error.ts";
import type { Server } from "../server/server.ts";
import { unmount } from "./unmount.ts";
import { cString, libc } from "../libc.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { OpenFlag } from "../wire/flags.ts";

/** Time in milliseconds within which a resent request that crashes servers crashes this one too. */
const SETTLING_MS = 100;

/** Facts of a mount that a new server needs. */
export interface LiveMount {
  /** Device number as `major:minor`. */
  readonly device: string;
  /** Result of INIT. */
  readonly agreed: Agreed;
}

/** A mounted tree, served by threads of this process. */
export class Mount implements AsyncDisposable {
  /** Absolute path without symbolic links. */
  readonly mountpoint: string;
  /**
   * Resolves when the mount has ended, whichever program unmounted it, or has lost its server. Then the dead
   * mount stays until it is unmounted, so that nobody takes an empty directory for the data. Never rejects.
   */
  readonly finished: Promise<{
    /** Reason of a failure; `undefined` if it was simply unmounted. */
    readonly failure: MountError | undefined;
  }>;
  readonly #server: Server;
  #device: string | undefined;
  #ended = false;
  /** Whether it has lost its server but is still mounted. */
  #dead = false;

  private constructor(
    mountpoint: string,
    server: Server,
    mapping: Mapping | undefined,
  ) {
    this.mountpoint = mountpoint;
    this.#server = server;
    this.finished = server.ended.then((failure) =>
      this.#finish(mapping, failure)
    );
  }

  /**
   * Serves a new mount. Nothing else may mount there meanwhile.
   *
   * @param parts Mount point, descriptor, server, and the mapping that the server sends from, if this process made
   * one. The mapping is disposed of when the mount has ended, even if this call fails.
   * @returns The mount, once it answers: its server has completed INIT and can describe the root. This process sends
   * no request to its own mount, because it could not be killed while it waits for its own answer.
   * @throws {MountError} If it does not answer; the mount has then ended.
   */
  static async start(
    { mountpoint, mapping, server, fd }: {
      readonly mountpoint: string;
      readonly mapping: Mapping | undefined;
      readonly server: Server;
      readonly fd: number;
    },
  ): Promise<Mount> {
    const mount = new Mount(mountpoint, server, mapping);
    const serving = server.serve(fd); // takes over the descriptor, even on failure
    serving.catch(() => {}); // awaited below, if nothing fails before
    try {
      mount.#device = mount.#entry()?.device;
      await serving;
      if (mount.#device !== undefined) raiseReadAhead(mount.#device);
    } catch (error) {
      await mount.#giveUp();
      throw error;
    }
    return mount;
  }

  /**
   * Resumes a mount whose server was killed.
   *
   * @param parts As for {@linkcode Mount.start}, without the descriptor, which the server holds.
   * @param kept What the killed server left.
   * @returns The mount, once it has ended, or the requests in flight have been answered without killing this server
   * as well.
   */
  static async resume(
    { mountpoint, mapping, server }: {
      readonly mountpoint: string;
      readonly mapping: Mapping | undefined;
      readonly server: Server;
    },
    { device, agreed }: LiveMount,
  ): Promise<Mount> {
    const mount = new Mount(mountpoint, server, mapping);
    mount.#device = device;
    server.resume(agreed);
    // No test request from this process: waiting for it would keep a crashing server's process from dying.
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SETTLING_MS);
    await Promise.race([promise, mount.finished]);
    clearTimeout(timer);
    return mount;
  }

  /** Device number as `major:minor`, if known. */
  get device(): string | undefined {
    return this.#device;
  }

  /** Ends a mount that was not returned to the caller; programs may still have found it. */
  async #giveUp(): Promise<void> {
    try {
      await this.#force(this.#device === undefined || this.#isPresent());
    } catch {
      // The mount and its mapping stay until somebody unmounts it.
    }
    if (this.#ended) await this.finished;
  }

  /**
   * Unmounts.
   *
   * @returns When the mount has ended; with `lazy`, when it is detached.
   * @throws {MountError} If it is in use, without `lazy` or `force`.
   */
  unmount(
    options: {
      /** Detaches a mount in use now; it ends when its last user is gone. */
      readonly lazy?: boolean | undefined;
      /**
       * Ends the mount even while it is in use; its users then get `ENOTCONN` or `ECONNABORTED`. For a process that
       * must end.
       */
      readonly force?: boolean | undefined;
    } = {},
  ): Promise<void> {
    return withPermissionErrors(this.mountpoint, async () => {
      if (this.#ended && !this.#dead) return;
      const present = this.#isPresent();
      if (options.force) await this.#force(present);
      else if (present) {
        await unmount(this.mountpoint, options.lazy === true);
        if (!options.lazy) await this.finished;
      } else if (!options.lazy && !this.#ended) {
        throw new MountError(
          "busy",
          `Cannot unmount ${this.mountpoint}: it was unmounted lazily and is still in use. It ends with its last user`,
          { path: this.mountpoint },
        );
      }
      this.#dead = false;
    });
  }

  /** Unmounts, with `force` if the mount is in use. */
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

  #finish(
    mapping: Mapping | undefined,
    failure: string | undefined,
  ): Awaited<Mount["finished"]> {
    this.#ended = true;
    mapping?.[Symbol.dispose]();
    if (failure === undefined) return { failure: undefined };
    this.#dead = this.#isPresent();
    return {
      failure: new MountError(
        "server",
        `Cannot serve ${this.mountpoint}: the mount is dead: ${failure}`,
        { path: this.mountpoint },
      ),
    };
  }

  #isPresent(): boolean {
    const entry = this.#entry();
    return entry !== undefined && entry.device === this.#device;
  }

  #entry(): MountEntry | undefined {
    return findMount(readMounts(), this.mountpoint);
  }
}

/** Kernel read-ahead in bytes: one request of the largest size. */
const READ_AHEAD = MAX_TRANSFER;

/**
 * Raises the kernel's read-ahead for a mount from the default of 128 KiB. Only root may; otherwise, or if /sys is
 * read-only, nothing changes.
 *
 * @param device Device number as in mountinfo: `0:57`.
 */
function raiseReadAhead(device: string): void {
  const { open, write, close } = libc();
  // Through libc, since writing to /sys through Deno needs `--allow-all`.
  const path = `/sys/class/bdi/${device}/read_ahead_kb`;
  const fd = open(cString(path), OpenFlag.WRONLY | OpenFlag.CLOEXEC);
  if (fd < 0) return;
  const text = new TextEncoder().encode(`${READ_AHEAD / 1024}`);
  write(fd, text, text.length);
  close(fd);
}
