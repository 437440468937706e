import { boundedText } from "./bounded_text.ts";
import { endNow, startFfmpeg } from "./start_ffmpeg.ts";
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
