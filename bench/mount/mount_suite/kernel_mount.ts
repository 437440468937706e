import { run } from "../../support/run.ts";
import type { Serving } from "./contender.ts";

/** Image on a loop device, mounted by a file system of the kernel. Needs root. */
export class KernelMount implements Serving {
  readonly mountpoint: string;
  readonly readyAfter: number;
  #isMounted = true;

  private constructor(mountpoint: string, readyAfter: number) {
    this.mountpoint = mountpoint;
    this.readyAfter = readyAfter;
  }

  /**
   * Mounts an image. Unmounting also frees the loop device.
   *
   * @param type File system type, as for `mount -t`.
   * @param options Options, as for `mount -o`.
   * @param file A file in it that must exist.
   */
  static async start(
    type: string,
    image: string,
    mountpoint: string,
    options: string,
    file = ".",
  ): Promise<KernelMount> {
    const start = performance.now();
    await run([
      "mount",
      "-t",
      type,
      "-o",
      `loop,${options}`,
      image,
      mountpoint,
    ]);
    await Deno.stat(`${mountpoint}/${file}`);
    return new KernelMount(mountpoint, performance.now() - start);
  }

  /** Unmounts, even if an interrupted reader still uses the mount. */
  async stop(): Promise<void> {
    if (!this.#isMounted) return;
    this.#isMounted = false;
    // Lazily only if necessary: the next mount would find this one's loop device busy.
    await run(["umount", this.mountpoint])
      .catch(() => run(["umount", "-l", this.mountpoint]));
  }
}
