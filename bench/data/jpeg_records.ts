import { run } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";

/** Size of the images. */
export const WIDTH = 640;
/** Size of the images. */
export const HEIGHT = 480;

/**
 * Writes an FFRecord file of so many different JPEGs, with noise, as photographs have; they stay beside it, as
 * `000001.jpg` and so on.
 */
export async function jpegRecords(
  workspace: Workspace,
  images: number,
  size = `${WIDTH}x${HEIGHT}`,
): Promise<string> {
  const source = `mandelbrot=size=${size}:rate=10,noise=alls=8`;
  await run([
    ...["ffmpeg", "-nostdin", "-loglevel", "error"],
    ...["-f", "lavfi", "-i", source, "-frames:v", `${images}`, "-q:v", "3"],
    workspace.file("%06d.jpg"),
  ]);
  const path = workspace.file("images.ffr");
  await using writer = await FFRecordWriter.open(path, { count: images });
  for (let i = 1; i <= images; i++) {
    const name = `${String(i).padStart(6, "0")}.jpg`;
    await writer.write(await Deno.readFile(workspace.file(name)));
  }
  await writer.close();
  return path;
}
