/** A directory that lasts as long as `body` runs; mp4 is read and written back and forth, which pipes are not. */
export async function withWorkDirectory<T>(
  body: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = await Deno.makeTempDir({ prefix: "recordfs-video-" });
  try {
    return await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}
