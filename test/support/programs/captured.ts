/** Captures the output of a program that runs inside the tests' process. */
import { Buffer } from "node:buffer";

/** Captured standard output and standard error of this thread, which look like pipes. */
export class Captured {
  readonly #stdout: Uint8Array[] = [];
  readonly #stderr: Uint8Array[] = [];

  /** The bytes written so far. */
  get bytes(): { readonly stdout: Uint8Array; readonly stderr: Uint8Array } {
    return {
      stdout: new Uint8Array(Buffer.concat(this.#stdout)),
      stderr: new Uint8Array(Buffer.concat(this.#stderr)),
    };
  }

  /** Captures this thread's output while `body` runs. */
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
  // Copied, since the writer may reuse its buffer.
  const keep = (bytes: Uint8Array) => {
    chunks.push(bytes.slice());
    return bytes.length;
  };
  stream.writeSync = keep;
  stream.write = (bytes) => Promise.resolve(keep(bytes));
  stream.isTerminal = () => false;
  return () => void Object.assign(stream, { write, writeSync, isTerminal });
}
