/**
 * Makes a directory for as long as `body` runs. ffmpeg moves back and forth in an mp4, which it
 * cannot in a pipe.
 */
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
