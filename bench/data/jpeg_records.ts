import { run } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";

/** Image width in pixels. */
export const WIDTH = 640;
/** Image height in pixels. */
export const HEIGHT = 480;

/** Writes an FFRecord file of `count` different JPEGs; the JPEGs of {@linkcode jpegFiles} stay next to it. */
export async function jpegRecords(
  workspace: Workspace,
  images: number,
  size?: string,
): Promise<string> {
  const files = await jpegFiles(workspace.path, images, size);
  const path = workspace.file("images.ffr");
  await using writer = await FFRecordWriter.open(path, { count: images });
  for (const file of files) await writer.write(await Deno.readFile(file));
  await writer.close();
  return path;
}

/**
 * Makes `count` different JPEGs in a folder, with noise like photographs: `000001.jpg` and so on.
 *
 * @returns Their paths.
 */
export async function jpegFiles(
  folder: string,
  images: number,
  size = `${WIDTH}x${HEIGHT}`,
): Promise<string[]> {
  const source = `mandelbrot=size=${size}:rate=10,noise=alls=8`;
  await run([
    ...["ffmpeg", "-nostdin", "-loglevel", "error"],
    ...["-f", "lavfi", "-i", source, "-frames:v", `${images}`, "-q:v", "3"],
    `${folder}/%06d.jpg`,
  ]);
  return Array.from(
    { length: images },
    (_, i) => `${folder}/${String(i + 1).padStart(6, "0")}.jpg`,
  );
}
