import { VideoError } from "./video_error.ts";
import { utf8Text } from "../../base/utf8.ts";

/** Options common to calls of ffmpeg. */
export interface ProgramOptions {
  /** Program; `ffmpeg` from the `PATH` by default. */
  readonly program?: string | undefined;
  /** Ends ffmpeg; the promise is then rejected, or the iteration throws, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Name of the video in errors; `the video` by default. */
  readonly path?: string | undefined;
}

export interface FfmpegTask {
  readonly verb: "decode" | "encode";
  readonly input?: Uint8Array | undefined;
}

/** No prompts, only errors. */
const QUIET = ["-nostdin", "-hide_banner", "-nostats", "-loglevel", "error"];

/** Running ffmpeg, which is killed at the end of its scope at the latest. */
export class Ffmpeg implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #complaints: Promise<string>;
  readonly #fed: Promise<boolean> | undefined;
  readonly #kill: () => void;
  readonly #options: ProgramOptions;
  readonly #verb: FfmpegTask["verb"];

  /** @throws {VideoError} If ffmpeg is not installed, or may not be run. */
  constructor(
    args: string[],
    options: ProgramOptions,
    { verb, input }: FfmpegTask,
  ) {
    const { program = "ffmpeg", signal, path = "the video" } = options;
    signal?.throwIfAborted();
    const stdin = input === undefined ? "null" : "piped";
    const child = startFfmpeg(program, [...QUIET, ...args], path, stdin, verb);
    this.#child = child;
    this.#complaints = boundedText(child.stderr);
    this.#fed = input === undefined ? undefined : feed(child, input);
    this.#kill = () => endNow(child);
    this.#options = options;
    this.#verb = verb;
    signal?.addEventListener("abort", this.#kill, { once: true });
  }

  get output(): ReadableStream<Uint8Array> {
    return this.#child.stdout;
  }

  /**
   * Waits for its exit, after the output has been read to its end.
   *
   * @param isWhole Whether the output was complete.
   * @returns Its error messages, even on success.
   * @throws {VideoError} If it failed.
   */
  async end(isWhole = true): Promise<string> {
    const { program = "ffmpeg", signal, path = "the video" } = this.#options;
    const status = await this.#child.status;
    const words = await this.#complaints;
    signal?.throwIfAborted();
    const isFed = await this.#fed ?? true;
    if (status.success && isFed && isWhole) return words;
    const end = status.signal ?? `code ${status.code}`;
    throw new VideoError(
      "video-failed",
      path,
      words === "" ? `${program} ended with ${end}` : `${program}: ${words}`,
      {},
      this.#verb,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#kill);
    this.#kill();
    await Promise.allSettled([
      this.#child.status,
      this.#complaints,
      this.#fed,
    ]);
  }
}

/** Returns whether the program took all input; if not, the program itself reports why. */
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

function startFfmpeg(
  program: string,
  args: string[],
  path: string,
  stdin: "null" | "piped",
  verb: FfmpegTask["verb"],
): Deno.ChildProcess {
  try {
    return new Deno.Command(program, {
      args,
      stdin,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    const isMissing = cause instanceof Deno.errors.NotFound;
    const isRefused = cause instanceof Deno.errors.NotCapable ||
      cause instanceof Deno.errors.PermissionDenied;
    if (!isMissing && !isRefused) throw cause;
    throw new VideoError(
      isMissing ? "ffmpeg-missing" : "ffmpeg-refused",
      path,
      `the program ${program} ` +
        `${
          isMissing
            ? "is not installed. Install it: apt-get install ffmpeg (Debian, Ubuntu), dnf install ffmpeg-free (Fedora), brew install ffmpeg (macOS)"
            : `may not be run (${cause.message}). Give --allow-run=${program}`
        }`,
      { cause },
      verb,
    );
  }
}

/** Kills the program: nobody waits for the rest of its output. */
function endNow(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has already ended
  }
}

/** Size limit of the retained error messages. */
const KEEP_BYTES = 8 * 1024;

async function boundedText(
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
  const text = utf8Text(kept.subarray(0, size)).trim();
  return isCut ? `${text} …` : text;
}

/** Provides a path for a temporary file, deleted after `body`: ffmpeg seeks in an mp4, which it cannot do in a pipe. */
export async function withWorkFile<T>(
  body: (file: string) => Promise<T>,
): Promise<T> {
  const dir = await Deno.makeTempDir({ prefix: "recordfs-video-" });
  try {
    return await body(`${dir}/video`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}
