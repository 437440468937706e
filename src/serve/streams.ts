import type { AnswerRoom } from "./answer_room.ts";
import { itsTurn } from "./its_turn.ts";
import { ServeError } from "./serve_error.ts";
import type { SharedCount, SharedCounts } from "./threads/shared_counts.ts";

/** How many requests are answered at a time, unless told otherwise. */
const MOST_REQUESTS = 1000;
/** How long a client may take for the next part of an answer, in milliseconds, unless told otherwise. */
export const PATIENCE = 60_000;

/** What makes the parts of a body, until the signal ends it. */
export type Pieces<Piece> = (
  signal: AbortSignal,
) => AsyncGenerator<Piece, void, undefined>;

/** How a body is made. */
export interface StreamOptions {
  /** Memory of the request's connection, whose server sees to it that the client takes what is made. */
  readonly room?: AnswerRoom | undefined;
  /** Called once, when it has ended, however: also if nothing of it was taken, so that nothing was made. */
  readonly onEnd?: (() => void) | undefined;
}

/** Bodies that are made piece by piece as clients take them: so many at a time, and none for a client that takes nothing. */
export class Streams {
  readonly #most: number;
  readonly #patience: number;
  readonly #onError: (error: unknown) => void;
  readonly #counts: SharedCounts;

  constructor(
    { maxRequests = MOST_REQUESTS, patience = PATIENCE, onError, counts }: {
      readonly maxRequests?: number | undefined;
      readonly patience?: number | undefined;
      readonly onError: (error: unknown) => void;
      readonly counts: SharedCounts;
    },
  ) {
    this.#counts = counts;
    this.#most = maxRequests;
    this.#patience = patience;
    this.#onError = onError;
  }

  /** Counts a request as one of those that are answered, until it is. */
  async count<T>(answer: () => Promise<T>): Promise<T> {
    const { whole } = this.#counts;
    this.#begin(whole);
    try {
      return await answer();
    } finally {
      whole.end();
    }
  }

  /**
   * A body of such pieces. It counts as a request until it has ended.
   *
   * @throws {ServeError} If there are too many of them.
   */
  of(
    make: Pieces<Uint8Array<ArrayBuffer>>,
    { room, onEnd }: StreamOptions = {},
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { streams } = this.#counts;
    this.#begin(streams);
    const ending = new AbortController();
    const pieces = make(ending.signal);
    let isOpen = true;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const end = (reason?: unknown) => {
      clearTimeout(waiting);
      if (!isOpen) return;
      isOpen = false;
      streams.end();
      ending.abort(reason);
      onEnd?.();
    };
    const expectPull = (controller: ReadableStreamDefaultController) => {
      if (room !== undefined) return;
      waiting = setTimeout(() => {
        const error = new ServeError(
          "too-slow",
          `The client has taken nothing for ${this.#patience / 1000} s`,
        );
        controller.error(new CutAnswer(error));
        end(error);
        pieces.return().catch(() => {});
      }, this.#patience);
    };
    return new ReadableStream({
      start: expectPull,
      pull: async (controller) => {
        clearTimeout(waiting);
        try {
          await itsTurn();
          const { done, value } = await pieces.next();
          if (!isOpen) return;
          if (done) {
            end();
            controller.close();
            return;
          }
          controller.enqueue(value);
          expectPull(controller);
        } catch (error) {
          if (!isOpen) return; // nobody waits for it any more
          end(error);
          this.#onError(error);
          throw new CutAnswer(error);
        }
      },
      cancel: async (reason) => {
        end(reason);
        await pieces.return().catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  /** A body of text; see {@linkcode Streams.of}. */
  ofText(
    make: Pieces<string>,
    options?: StreamOptions,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const encoder = new TextEncoder();
    const room = options?.room;
    return this.of(async function* (signal) {
      for await (let text of make(signal)) {
        while (room !== undefined && text !== "") {
          const into = room.piece(text.length);
          const { read, written } = encoder.encodeInto(text, into);
          text = text.slice(read); // none of it is kept while this is sent
          yield into.subarray(0, written);
        }
        if (text !== "") yield encoder.encode(text);
      }
    }, options);
  }

  #begin(count: SharedCount): void {
    if (count.begin(this.#most)) return;
    throw new ServeError(
      "too-many-requests",
      `The server answers ${this.#most} requests already; ask again soon`,
    );
  }
}

/** What a body ends with that can't go on. `Deno.serve` prints it, which is to be a line without a stack. */
class CutAnswer extends Error {
  override name = "CutAnswer";

  constructor(cause: unknown) {
    super("an answer was cut off, as what it was made of failed", { cause });
  }

  [Symbol.for("Deno.customInspect")](): string {
    return `recordfs: ${this.message}`;
  }
}
