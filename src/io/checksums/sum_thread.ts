import { startThread } from "../concurrency/thread.ts";
import { FileSource } from "../storage/file_source.ts";
import type { Span } from "./range_sums.ts";
import type { FromSumThread, ToSumThread } from "./sum_messages.ts";

export class SumThread {
  readonly #worker: Worker;
  readonly #waiting: ((sums: readonly number[] | undefined) => void)[] = [];
  readonly #stopped = Promise.withResolvers<void>();
  #isDead = false;

  constructor() {
    const module = new URL("./sum_worker.ts", import.meta.url);
    this.#worker = startThread<FromSumThread>(module, "recordfs sums", {
      heard: (message) => {
        if (message.kind === "stopped") this.#stopped.resolve();
        else this.#waiting.shift()?.(message.sums);
      },
      died: () => {
        this.#isDead = true;
        this.#stopped.resolve();
        for (const tell of this.#waiting.splice(0)) tell(undefined);
      },
    });
  }

  /** Number of spans in flight; `Infinity` if the thread is dead. */
  get load(): number {
    return this.#isDead ? Infinity : this.#waiting.length;
  }

  /** Requests the checksums of a span of a {@linkcode FileSource}; `undefined` if the thread cannot read some of it. */
  sums(
    { source, ranges, checksumKind }: Span,
  ): Promise<readonly number[] | undefined> {
    if (this.#isDead || !(source instanceof FileSource)) {
      return Promise.resolve(undefined);
    }
    const { path, identity } = source;
    this.#send({ kind: "span", path, identity, ranges, checksumKind });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#send({ kind: "stop" });
    await this.#stopped.promise;
    this.#worker.terminate();
  }

  #send(message: ToSumThread): void {
    this.#worker.postMessage(message);
  }
}
