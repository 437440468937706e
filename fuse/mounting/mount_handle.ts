import { abortConnection, forceUnmount } from "./force_unmount.ts";
import type { Agreed } from "../server/connection_state.ts";
import type { Mapping } from "../content/mapping.ts";
import { MountError } from "./mount_error.ts";
import { findMount, type MountEntry, readMounts } from "./mountinfo.ts";
import { withPermissionErrors } from "./permission_error.ts";
import type { Server } from "../server/server.ts";
import { unmount, type UnmountOptions } from "./unmount.ts";
import { cString, libc } from "../libc.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { OpenFlag } from "../wire/flags.ts";

/** End of a mount. */
export interface MountEnd {
  /** Reason of a failure, unless it was simply unmounted. */
  readonly failure: MountError | undefined;
}

/** Options to end a mount of this process. */
export interface EndOptions extends UnmountOptions {
  /**
   * Ends it even when it is in use, which whoever uses it sees as `ENOTCONN` or `ECONNABORTED`: for
   * a process that has to end.
   */
  readonly force?: boolean | undefined;
}

/** A request that kills servers does so within this time from when it is repeated. */
const SETTLING_MS = 100;

/** Facts of a mount that a new server has to know. */
export interface KeptMount {
  /** Device number as `major:minor`. */
  readonly device: string;
  /** Agreement made by INIT. */
  readonly agreed: Agreed;
}

/** A mounted tree, served by threads of this process. */
export class Mount implements AsyncDisposable {
  /** Absolute path, without symbolic links. */
  readonly mountpoint: string;
  /**
   * Resolves when the mount has ended, by whomever it was unmounted, or has lost its server: it stays
   * then, dead, so that nobody takes an empty directory for the data, until it is unmounted. Never rejects.
   */
  readonly finished: Promise<MountEnd>;
  readonly #server: Server;
  #device: string | undefined;
  #ended = false;
  /** True if it has lost its server, and stays in the tree without one. */
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
   * Has a server serve a mount that was just made; nothing else may mount there meanwhile.
   *
   * @param parts Its mount point, descriptor, server, and the mapping the server sends from, if it is
   * not of its own, which is disposed of when the mount has ended, even if this fails.
   * @returns The mount, once it answers: its server has agreed with the kernel on how, and can describe
   * the root. Nothing is asked of it by this process, which could not be killed while it waits for an
   * answer of its own.
   * @throws {MountError} If it does not; the mount has ended then.
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
    const serving = server.serve(fd); // takes the descriptor over, whatever comes next
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
   * Has a server go on with a mount whose own server was killed.
   *
   * @param parts As {@linkcode Mount.start} takes them, but the descriptor, which the server holds.
   * @param kept What the killed server has left.
   * @returns The mount, when what was in flight has been answered without killing this server as well,
   * or it has ended.
   */
  static async resume(
    { mountpoint, mapping, server }: {
      readonly mountpoint: string;
      readonly mapping: Mapping | undefined;
      readonly server: Server;
    },
    { device, agreed }: KeptMount,
  ): Promise<Mount> {
    const mount = new Mount(mountpoint, server, mapping);
    mount.#device = device;
    server.resume(agreed);
    // Asked for by this process, an answer would keep it from dying before another one gives it.
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SETTLING_MS);
    await Promise.race([promise, mount.finished]);
    clearTimeout(timer);
    return mount;
  }

  /** Its device number as `major:minor`, where the system says it. */
  get device(): string | undefined {
    return this.#device;
  }

  /** Ends a mount that nobody has been given; programs may have found it all the same. */
  async #giveUp(): Promise<void> {
    try {
      await this.#force(this.#device === undefined || this.#isPresent());
    } catch {
      // It goes on, and its mapping stays, until somebody else unmounts it.
    }
    if (this.#ended) await this.finished;
  }

  /**
   * Unmounts.
   *
   * @returns When the mount has ended; with `lazy`, when it is out of the tree.
   * @throws {MountError} If it is in use, without `lazy` or `force`.
   */
  unmount(options: EndOptions = {}): Promise<void> {
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
          `${this.mountpoint} was unmounted lazily and is still in use: it ends with its last user`,
          { path: this.mountpoint },
        );
      }
      this.#dead = false;
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

  #finish(
    mapping: Mapping | undefined,
    failure: string | undefined,
  ): MountEnd {
    this.#ended = true;
    mapping?.[Symbol.dispose]();
    if (failure === undefined) return { failure: undefined };
    this.#dead = this.#isPresent();
    return {
      failure: new MountError(
        "server",
        `The mount on ${this.mountpoint} is dead: ${failure}`,
        { path: this.mountpoint },
      ),
    };
  }

  /** True if it is what its mount point leads to. */
  #isPresent(): boolean {
    const entry = this.#entry();
    return entry !== undefined && entry.device === this.#device;
  }

  #entry(): MountEntry | undefined {
    return findMount(readMounts(), this.mountpoint);
  }
}

/** Distance that the kernel reads ahead of a sequential reader: one request of the largest size. */
const READ_AHEAD = MAX_TRANSFER;

/**
 * Has the kernel read further ahead on a mount than its usual 128 KiB. Only root may; otherwise, or
 * where /sys is read-only, it stays as it is.
 *
 * @param device The mount's device number, as mountinfo has it: `0:57`.
 */
function raiseReadAhead(device: string): void {
  const { open, write, close } = libc();
  // Through libc, since Deno's own writing to /sys takes `--allow-all`.
  const path = `/sys/class/bdi/${device}/read_ahead_kb`;
  const fd = open(cString(path), OpenFlag.WRONLY | OpenFlag.CLOEXEC);
  if (fd < 0) return;
  const text = new TextEncoder().encode(`${READ_AHEAD / 1024}`);
  write(fd, text, text.length);
  close(fd);
}
