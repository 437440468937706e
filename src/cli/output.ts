import { RecordfsError } from "../errors.ts";
import { systemCode } from "../io/system_error.ts";
import { encodeName } from "../names.ts";

const CAPACITY = 1 << 16;

/**
 * Standard output, buffered: text with names as their exact bytes, and raw bytes.
 *
 * `put` only fills the buffer, so that listings of millions of names don't wait for each; callers
 * flush when it is {@linkcode Output.full}.
 */
export class Output {
  #buffer = new Uint8Array(CAPACITY);
  #length = 0;
  #waiting: Uint8Array[] = [];

  /** Whether there is enough for {@linkcode Output.flush} to be worth it. */
  get full(): boolean {
    return this.#waiting.length > 0;
  }

  /** Adds text; a lone surrogate U+DC80 … U+DCFF becomes the byte it stands for. */
  put(text: string): void {
    this.putBytes(encodeName(text));
  }

  putBytes(bytes: Uint8Array): void {
    if (this.#length + bytes.length > CAPACITY) this.#seal();
    if (bytes.length > CAPACITY) {
      this.#waiting.push(bytes);
    } else {
      this.#buffer.set(bytes, this.#length);
      this.#length += bytes.length;
    }
  }

  /** Writes everything that was put. */
  async flush(): Promise<void> {
    this.#seal();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const bytes of waiting) {
      for (let done = 0; done < bytes.length;) {
        done += await writeSome(bytes.subarray(done));
      }
    }
  }

  #seal(): void {
    if (this.#length === 0) return;
    this.#waiting.push(this.#buffer.subarray(0, this.#length));
    this.#buffer = new Uint8Array(CAPACITY);
    this.#length = 0;
  }
}

async function writeSome(bytes: Uint8Array): Promise<number> {
  try {
    return await Deno.stdout.write(bytes);
  } catch (error) {
    const code = systemCode(error);
    // Whoever closed a pipe wants no more, and nothing said about it.
    if (code === undefined || code === "EPIPE") throw error;
    const { message } = error as Error;
    throw new RecordfsError(
      code,
      `Cannot write to standard output: ${message}`,
      { cause: error },
    );
  }
}

/** Runs `body` with standard output, and writes what is left at its end, whether it fails or not. */
export async function withOutput(
  body: (out: Output) => Promise<void>,
): Promise<void> {
  const out = new Output();
  try {
    await body(out);
  } finally {
    await out.flush();
  }
}
