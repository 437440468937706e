/** Test videos, made by ffmpeg. */
import assert from "node:assert/strict";

/** Runs ffmpeg, which must succeed. */
export async function ffmpeg(...args: string[]): Promise<Uint8Array> {
  const { success, stdout, stderr } = await new Deno.Command("ffmpeg", {
    args: ["-nostdin", "-y", "-loglevel", "error", ...args],
    stdin: "null",
  }).output();
  assert.ok(success, `ffmpeg ${args.join(" ")}: ${text(stderr)}`);
  return stdout;
}

/** Makes a clip of a moving test pattern, with codecs that every ffmpeg has. */
export async function makeClip(
  path: string,
  { size = "64x48", rate = 25, frames = 25, source = "testsrc" }: {
    size?: string;
    rate?: number;
    frames?: number;
    source?: string;
  } = {},
  ...more: string[]
): Promise<string> {
  await ffmpeg(
    ...[
      "-f",
      "lavfi",
      "-i",
      `${source}${source.includes("=") ? ":" : "="}size=${size}:rate=${rate}`,
    ],
    ...["-frames:v", `${frames}`, "-pix_fmt", "yuv420p"],
    ...["-c:v", path.endsWith(".mkv") ? "ffv1" : "mpeg4", "-q:v", "2"],
    ...more,
    path,
  );
  return path;
}

/** Counts the frames that GulpIO gets from a video: the files that its ffmpeg command writes. */
export async function burstCount(
  path: string,
  dir: string,
  frameRate?: number,
): Promise<number> {
  const target = await Deno.makeTempDir({ dir });
  const rate = frameRate === undefined ? [] : ["-r", `${frameRate}`];
  await new Deno.Command("ffmpeg", {
    args: ["-i", path, ...rate, "-q:v", "1", "-f", "image2"].concat(
      `${target}/%010d.jpg`,
    ),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return (await Array.fromAsync(Deno.readDir(target))).length;
}

/** Makes a program that writes its process id to a file, and then becomes ffmpeg. */
export async function ffmpegWithPid(dir: string): Promise<{
  program: string;
  pid(): number;
}> {
  const program = `${dir}/ffmpeg-with-pid`;
  const pidFile = `${dir}/pid`;
  await Deno.writeTextFile(
    program,
    `#!/bin/sh\necho $$ > '${pidFile}'\nexec ffmpeg "$@"\n`,
    { mode: 0o755 },
  );
  return { program, pid: () => Number(Deno.readTextFileSync(pidFile)) };
}

/** Whether a process exists. */
export function isRunning(pid: number): boolean {
  try {
    Deno.statSync(`/proc/${pid}`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
