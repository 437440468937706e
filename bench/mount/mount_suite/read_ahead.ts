/**
 * Raises the read-ahead of a mount: a server can't request more than the kernel's default of 128 KiB. Needs root; has
 * no effect for other users.
 *
 * @param kibibytes New limit.
 */
export async function raiseReadAhead(
  mountpoint: string,
  kibibytes: number,
): Promise<void> {
  if (Deno.uid() !== 0) return;
  const { dev } = await Deno.stat(mountpoint);
  const major = (dev >>> 8) & 0xfff; // as encoded by makedev(3)
  const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00);
  const file = `/sys/class/bdi/${major}:${minor}/read_ahead_kb`;
  if (Number(await Deno.readTextFile(file)) >= kibibytes) return;
  await Deno.writeTextFile(file, `${kibibytes}`);
}
