import { deserializeError } from "../../base/serialized_error.ts";
import { RecordfsError } from "../../base/errors.ts";
import { startThread } from "../concurrency/thread.ts";
import { libcIfPermitted } from "../libc/libc.ts";
import { SystemError } from "../libc/system_error.ts";
import { hasDescriptors } from "../storage/thread_descriptors.ts";
import type {
  FilesToPlace,
  PlaceReport,
  RefusedFile,
} from "./place_messages.ts";

/** A file that could not be written, by its index. */
export interface Refusal {
  readonly index: number;
  readonly error: unknown;
}

/** Thread that writes files, because most of the work is the kernel's. */
export class PlaceThread implements Disposable {
  readonly #worker: Worker;
  readonly #asked: PromiseWithResolvers<readonly Refusal[]>[] = [];
  #isReady = false;
  #failure: Error | undefined;

  private constructor() {
    const module = new URL("./place_worker.ts", import.meta.url);
    this.#worker = startThread<PlaceReport>(module, "recordfs place", {
      heard: (report) => {
        if (report.kind === "ready") this.#isReady = true;
        else this.#asked.shift()!.resolve(report.refused.map(refusalOf));
      },
      died: (why) => this.#fail(why),
    });
  }

  /** Starts a thread if directories can be shared with it and a second processor is available. */
  static start(): PlaceThread | undefined {
    return libcIfPermitted() !== undefined &&
        navigator.hardwareConcurrency > 1 && hasDescriptors(1)
      ? new PlaceThread()
      : undefined;
  }

  /** Number of {@linkcode PlaceThread.place} calls in flight; infinite while the thread cannot answer. */
  get busy(): number {
    return this.#isReady && this.#failure === undefined
      ? this.#asked.length
      : Infinity;
  }

  /** Writes files. Their directories must stay open, and their memory unchanged, until this resolves. */
  place(files: Omit<FilesToPlace, "kind">): Promise<readonly Refusal[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const answer = Promise.withResolvers<readonly Refusal[]>();
    this.#asked.push(answer);
    this.#worker.postMessage({ kind: "place", ...files });
    return answer.promise;
  }

  /** Ends the thread. No call may be in flight. */
  [Symbol.dispose](): void {
    this.#worker.terminate();
  }

  #fail(why: string): void {
    this.#failure = new RecordfsError(
      "worker-died",
      `Cannot extract files: a thread that writes them died: ${why}`,
    );
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }
}

function refusalOf({ index, error }: RefusedFile): Refusal {
  return { index, error: deserializeError(error, SystemError) };
}
