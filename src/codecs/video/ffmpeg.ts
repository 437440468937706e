import { VideoError } from "./video_error.ts";

/** What is common to calls of ffmpeg. */
export interface ProgramOptions {
  /** The program; `ffmpeg` from the `PATH` unless given. */
  readonly program?: string | undefined;
  /** Ends ffmpeg; the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** What errors call the video; `the video` unless given. */
  readonly path?: string | undefined;
}

/** What goes in and comes out. */
export interface FfmpegStreams {
  /** Bytes for its standard input. */
  readonly input?: Uint8Array | undefined;
  /** Takes its standard output; throwing ends ffmpeg. */
  readonly take: (chunk: Uint8Array) => void;
  readonly verb: "decode" | "encode";
}

/**
 * Runs ffmpeg to its end.
 *
 * @returns What it complained of, though it went well.
 * @throws {VideoError} If it cannot be run, or fails.
 */
export async function runFfmpeg(
  args: string[],
  { program = "ffmpeg", signal, path = "the video" }: ProgramOptions,
  { input, take, verb }: FfmpegStreams,
): Promise<string> {
  signal?.throwIfAborted();
  const child = startFfmpeg(
    program,
    args,
    path,
    input === undefined ? "null" : "piped",
    verb,
  );
  const complaints = boundedText(child.stderr);
  const fed = input === undefined ? undefined : feed(child, input);
  const kill = () => endNow(child);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    for await (const chunk of child.stdout) take(chunk);
    const [status, words] = await Promise.all([child.status, complaints]);
    signal?.throwIfAborted();
    const isWhole = await fed ?? true;
    if (status.success && isWhole) return words;
    const end = status.signal ?? `code ${status.code}`;
    throw new VideoError(
      "video-failed",
      path,
      words === "" ? `${program} ended with ${end}` : `${program}: ${words}`,
      {},
      verb,
    );
  } finally {
    signal?.removeEventListener("abort", kill);
    kill();
    await Promise.allSettled([child.status, complaints, fed]);
  }
}

/** Whether the program took it all; why it did not, it says itself. */
async function feed(
  child: Deno.ChildProcess,
  input: Uint8Array,
): Promise<boolean> {
  const writer = child.stdin.getWriter();
  try {
    await writer.write(input);
    await writer.close();
    return true;
  } catch {
    return false;
  }
}

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
  verb: "decode" | "encode" = "decode",
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
        verb,
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
        verb,
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

/** Enough of a program's complaints to know what is wrong. */
const KEEP_BYTES = 8 * 1024;

/** Reads a stream to its end and keeps how it begins, as text. */
export async function boundedText(
  stream: ReadableStream<Uint8Array>,
): Promise<string> {
  const kept = new Uint8Array(KEEP_BYTES);
  let size = 0;
  let isCut = false;
  for await (const chunk of stream) {
    const part = chunk.subarray(0, KEEP_BYTES - size);
    kept.set(part, size);
    size += part.length;
    isCut ||= part.length < chunk.length;
  }
  const text = new TextDecoder().decode(kept.subarray(0, size)).trim();
  return isCut ? `${text} …` : text;
}

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
