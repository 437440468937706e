/** Packages that the peers of the mount suite need besides Deno, and the message if one is missing. */

/** Debian packages of the programs that make and serve the peers' images. */
export const PEER_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["fuse-zip", "fuse-zip"],
  ["mkfs.erofs", "erofs-utils"],
  ["mkfs.ext4", "e2fsprogs"],
  ["mksquashfs", "squashfs-tools"],
  ["squashfuse_ll", "squashfuse"],
  ["zip", "zip"],
]);

/**
 * Returns what is missing and how to get it, or `undefined` if nothing is.
 *
 * @param needs Names of {@linkcode PEER_PACKAGES}, `root`, or `erofs` for the kernel's file system.
 */
export async function missing(
  needs: readonly string[],
): Promise<string | undefined> {
  const absent: string[] = [];
  for (const need of needs) if (!await isThere(need)) absent.push(need);
  if (absent.length === 0) return undefined;
  if (absent.includes("root")) return "not measured: only root can mount it";
  if (absent.includes("erofs")) return "not measured: this kernel has no EROFS";
  const packages = absent.map((need) => PEER_PACKAGES.get(need)).join(" ");
  return `not measured: \`deno task setup\` or \`apt-get install ${packages}\``;
}

async function isThere(need: string): Promise<boolean> {
  if (need === "root") return Deno.uid() === 0;
  const test = need === "erofs"
    ? "grep -qw erofs /proc/filesystems || modprobe -q erofs"
    : 'command -v "$0"';
  const { success } = await new Deno.Command("sh", {
    args: ["-c", test, need],
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}
