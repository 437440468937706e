import type { ValueType } from "../../codecs/values/value_type.ts";
import { CallError, CallThreads } from "../../io/concurrency/call_threads.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { FilteredEntry } from "../../tree/vfs/path_filter.ts";
import type { EntryMessage, RowsMessage } from "../api/messages.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import type { UndecodedParts } from "./shown_cells.ts";
import { type Coding, shownValue } from "./shown_value.ts";

/** Decoder threads per serving thread. Long tasks may use all but one. */
const THREADS = 2;
const MOST_WAITING = 64;
/** Timeout in milliseconds. */
const TIMEOUT = 20_000;
/** Memory of one thread for decoded values, in megabytes, not counting the input. */
const MEMORY = 256;
/** Inputs larger than this many bytes are long tasks. */
const SHORT = 1 << 20;

/** Whether a type's decoder is a function of its format, which cannot run in another thread. */
export function isOwn({ decoding }: ValueType): boolean {
  return typeof decoding === "function";
}

/** Decodes values in worker threads, so that the serving thread keeps responding. */
export class Decoding {
  readonly #threads = new CallThreads("recordfs decode", {
    threads: THREADS,
    waiting: MOST_WAITING,
    timeout: TIMEOUT,
    memory: MEMORY,
  });

  /**
   * Returns the API's JSON for a value; empty if more bytes are needed.
   *
   * @param read Reads the bytes. If there are many, called when a thread is free.
   * @throws {ServeError} If too many values are waiting.
   * @throws If the bytes are invalid, or decoding exceeds its time or memory.
   */
  *value(
    coding: Coding,
    size: number,
    read: () => Steps<Uint8Array<ArrayBuffer>>,
  ): Steps<Uint8Array<ArrayBuffer>> {
    if (coding.kind === "value" && isOwn(coding.type)) {
      const bytes = yield* read();
      return yield* waitFor(() => shownValue(bytes, coding));
    }
    // Opening archives needs many modules, so they are loaded only then.
    const isArchive = coding.kind === "arrays";
    const module = import.meta.resolve(
      isArchive ? "./npz.ts" : "./shown_value.ts",
    );
    const callOf = (bytes: Uint8Array<ArrayBuffer>) => ({
      module,
      name: isArchive ? "shownArrays" : "shownValue",
      args: [bytes, coding],
      transfer: [bytes.buffer],
    });
    const isLong = size > SHORT;
    const early = isLong ? undefined : yield* read();
    return yield* waitFor((signal) =>
      this.#call(
        isLong,
        async () => callOf(early ?? await runAsync(read(), signal)),
        signal,
      )
    );
  }

  /** Returns a message as JSON, with its undecoded parts decoded. Throws if too many values are waiting. */
  *cells(
    message: EntryMessage | RowsMessage,
    parts: UndecodedParts,
  ): Steps<Uint8Array<ArrayBuffer>> {
    const call = {
      module: import.meta.resolve("./shown_cells.ts"),
      name: "shownCells",
      args: [message, parts],
      transfer: [
        ...parts.cells.map(({ bytes }) => bytes.buffer),
        ...parts.meta === undefined ? [] : [parts.meta.buffer],
      ],
    };
    return yield* waitFor((signal) =>
      this.#call(false, () => Promise.resolve(call), signal)
    );
  }

  /** Matches entries against a glob: 1 for a match, else 0. Throws if it takes too long or too much is waiting. */
  async matches(
    glob: string,
    entries: readonly FilteredEntry[],
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const call = {
      module: import.meta.resolve("./matched_paths.ts"),
      name: "matchedPaths",
      args: [
        glob,
        entries.map(({ path, name, depth, isDirectory }) => ({
          ...{ path, name, depth, isDirectory },
        })),
      ],
      transfer: [],
    };
    try {
      return await this.#call(true, () => Promise.resolve(call), signal);
    } catch (cause) {
      if (!(cause instanceof RangeError || cause instanceof CallError)) {
        throw cause;
      }
      throw new ServeError(
        "bad-request",
        `Cannot search for '${glob}': ${cause.message}. Use fewer stars and braces`,
        { cause },
      );
    }
  }

  close(): void {
    this.#threads.close();
  }

  async #call(
    ...args: Parameters<CallThreads["call"]>
  ): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#threads.call(...args);
    } catch (cause) {
      if (cause instanceof CallError && cause.code === "busy") {
        throw new ServeError(
          "too-many-requests",
          `Cannot decode this now: ${cause.message}`,
          { cause },
        );
      }
      throw cause;
    }
  }
}
