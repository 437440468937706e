import { run } from "../../support/run.ts";
import type { Serving } from "./contender.ts";

/** An image on a loop device, mounted by a file system of the kernel. Needs root. */
export class KernelMount implements Serving {
  readonly mountpoint: string;
  readonly readyAfter: number;
  #isMounted = true;

  private constructor(mountpoint: string, readyAfter: number) {
    this.mountpoint = mountpoint;
    this.readyAfter = readyAfter;
  }

  /**
   * Mounts an image. The loop device goes away with the mount.
   *
   * @param type The file system's name, as `mount -t` takes it.
   * @param options As `mount -o` takes them.
   * @param file A file in it that must be there.
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

  /** Unmounts, also where a reader that was cut off is still in it. */
  async stop(): Promise<void> {
    if (!this.#isMounted) return;
    this.#isMounted = false;
    // Not lazily unless it must be: the next mount would find this one's loop device busy.
    await run(["umount", this.mountpoint])
      .catch(() => run(["umount", "-l", this.mountpoint]));
  }
}
