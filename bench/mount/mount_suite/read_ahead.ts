/**
 * Raises how far the kernel reads ahead in a mount, which a server can't ask for beyond the kernel's
 * 128 KiB. Only root may; for others nothing changes.
 *
 * @param kibibytes The new limit.
 */
export async function raiseReadAhead(
  mountpoint: string,
  kibibytes: number,
): Promise<void> {
  if (Deno.uid() !== 0) return;
  const { dev } = await Deno.stat(mountpoint);
  const major = (dev >>> 8) & 0xfff; // as makedev(3) puts the numbers together
  const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00);
  const file = `/sys/class/bdi/${major}:${minor}/read_ahead_kb`;
  if (Number(await Deno.readTextFile(file)) >= kibibytes) return;
  await Deno.writeTextFile(file, `${kibibytes}`);
}
