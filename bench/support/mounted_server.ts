import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

const MOUNT_TIMEOUT = 120_000;
const EXIT_TIMEOUT = 10_000;
const POLL_INTERVAL = 1;

/** FUSE server in the foreground, and its mountpoint. */
export class MountedServer {
  readonly mountpoint: string;
  readonly #child: Deno.ChildProcess;
  readonly #said: Promise<string>;
  #exited = false;
  #readyAfter = 0;

  private constructor(command: readonly string[], mountpoint: string) {
    const [program, ...args] = command as [string, ...string[]];
    this.mountpoint = mountpoint;
    this.#child = new Deno.Command(program, {
      args,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#said = new Response(this.#child.stderr).text();
    this.#child.status.then(() => this.#exited = true);
  }

  /**
   * Starts the server and waits until its file system responds.
   *
   * @param file A file in it that must exist; if omitted, any response will do.
   * @throws {Error} If it ends, or does not mount in time.
   */
  static async start(
    command: readonly string[],
    mountpoint: string,
    file?: string,
  ): Promise<MountedServer> {
    const outside = (await Deno.stat(dirname(mountpoint))).dev;
    const started = performance.now();
    const server = new MountedServer(command, mountpoint);
    const deadline = Date.now() + MOUNT_TIMEOUT;
    // Once mounted, the device number changes, and the stat waits for the server's reply.
    while ((await Deno.stat(mountpoint)).dev === outside) {
      if (server.#exited || Date.now() > deadline) {
        await server.stop();
        throw new Error(
          `${command.join(" ")} did not mount ${mountpoint}: ${await server
            .#said}`,
        );
      }
      await setTimeout(POLL_INTERVAL);
    }
    if (file !== undefined) await Deno.stat(`${mountpoint}/${file}`);
    server.#readyAfter = performance.now() - started;
    return server;
  }

  /** Time from the start of the command to the file system's first response, in milliseconds. */
  get readyAfter(): number {
    return this.#readyAfter;
  }

  /** Process id of the server. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Unmounts and waits for the process to end. Stopping twice is harmless. */
  async stop(): Promise<void> {
    await unmountLazily(this.mountpoint);
    const patience = new AbortController();
    await Promise.race([
      this.#child.status,
      setTimeout(EXIT_TIMEOUT, undefined, { signal: patience.signal })
        .catch(() => {}),
    ]);
    patience.abort();
    if (!this.#exited) this.#child.kill("SIGKILL");
    await this.#child.status;
  }
}

/** Unmounts lazily, so that a reader interrupted by Ctrl-C does not keep the mount. */
export async function unmountLazily(mountpoint: string): Promise<void> {
  await new Deno.Command("fusermount3", {
    args: ["-u", "-z", "-q", "--", mountpoint],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
}
