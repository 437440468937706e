/** What a program of this repository writes while it runs inside the tests' process. */
import { Buffer } from "node:buffer";

/** Standard output and standard error, of this thread only, as two pipes that nobody is slow to read. */
export class Captured {
  readonly #stdout: Uint8Array[] = [];
  readonly #stderr: Uint8Array[] = [];

  /** What has been written. */
  get bytes(): { readonly stdout: Uint8Array; readonly stderr: Uint8Array } {
    return {
      stdout: new Uint8Array(Buffer.concat(this.#stdout)),
      stderr: new Uint8Array(Buffer.concat(this.#stderr)),
    };
  }

  /** Runs `body`; until it ends, this thread's output comes here. */
  async during<T>(body: () => Promise<T>): Promise<T> {
    const restore = [
      redirect(Deno.stdout, this.#stdout),
      redirect(Deno.stderr, this.#stderr),
    ];
    try {
      return await body();
    } finally {
      for (const one of restore) one();
    }
  }
}

function redirect(
  stream: typeof Deno.stdout | typeof Deno.stderr,
  chunks: Uint8Array[],
): () => void {
  const { write, writeSync, isTerminal } = stream;
  // A copy: whoever writes may use the buffer again.
  const keep = (bytes: Uint8Array) => {
    chunks.push(bytes.slice());
    return bytes.length;
  };
  stream.writeSync = keep;
  stream.write = (bytes) => Promise.resolve(keep(bytes));
  stream.isTerminal = () => false;
  return () => void Object.assign(stream, { write, writeSync, isTerminal });
}
