import type { ValueType } from "../../codecs/values/value_type.ts";
import { CallError, CallThreads } from "../../io/concurrency/call_threads.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { FilteredEntry } from "../../tree/vfs/path_filter.ts";
import type { EntryMessage, RowsMessage } from "../api/messages.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import type { UndecodedParts } from "./shown_cells.ts";
import { type Coding, shownValue } from "./shown_value.ts";

/** Threads of a serving thread: what is long has all but one of them. */
const THREADS = 2;
/** Values that may wait for one. */
const MOST_WAITING = 64;
/** How long decoding may take, in milliseconds. */
const TIMEOUT = 20_000;
/** Memory of what one thread makes of values, in megabytes, beside their bytes. */
const MEMORY = 256;
/** Bytes of a value that is soon decoded. */
const SHORT = 1 << 20;

/** Whether a type is decoded by a function of a format's own, which no other thread has. */
export function isOwn({ decoding }: ValueType): boolean {
  return typeof decoding === "function";
}

/** Decodes values in threads beside the one that serves, which answers others meanwhile. */
export class Decoding {
  readonly #threads = new CallThreads("recordfs decode", {
    threads: THREADS,
    waiting: MOST_WAITING,
    timeout: TIMEOUT,
    memory: MEMORY,
  });

  /**
   * A value as the API answers it, in JSON; no bytes where further ones are needed.
   *
   * @param read Reads its bytes; where they are many, when there is a thread for them.
   * @throws {ServeError} If too many values wait to be decoded.
   * @throws What is wrong with the bytes, or that they take too long or too much memory.
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
    // What opens archives is many modules, which are loaded where there is one.
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

  /**
   * An answer with its undecoded parts decoded, in JSON.
   *
   * @throws {ServeError} If too many values wait to be decoded.
   */
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

  /**
   * Compares entries with a glob.
   *
   * @returns For each, 1 where it matches, or else 0.
   * @throws {ServeError} If it takes too long, or too much is being decoded.
   */
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

  /** Ends the threads. */
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
