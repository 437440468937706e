import { VideoError } from "./video_error.ts";

/**
 * Starts the program ffmpeg; what it writes is read from pipes.
 *
 * @param path What errors call the video.
 * @throws {VideoError} If it is not here, or may not be run.
 */
export function startFfmpeg(
  program: string,
  args: string[],
  path: string,
  stdin: "null" | "piped",
): Deno.ChildProcess {
  try {
    return new Deno.Command(program, {
      args,
      stdin,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) {
      throw new VideoError(
        "ffmpeg-missing",
        path,
        `the program ${program} is not here; install it: ` +
          "apt-get install ffmpeg (Debian, Ubuntu), dnf install ffmpeg-free " +
          "(Fedora), brew install ffmpeg (macOS)",
        { cause },
      );
    }
    if (
      cause instanceof Deno.errors.NotCapable ||
      cause instanceof Deno.errors.PermissionDenied
    ) {
      throw new VideoError(
        "ffmpeg-refused",
        path,
        `the program ${program} may not be run: give --allow-run=${program} ` +
          `(${cause.message})`,
        { cause },
      );
    }
    throw cause;
  }
}

/** Without a chance to finish: nobody waits for what it would still write. */
export function endNow(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended already
  }
}
