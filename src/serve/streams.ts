import type { ResponseRoom } from "./response_room.ts";
import { itsTurn } from "./its_turn.ts";
import { ServeError } from "./serve_error.ts";
import type { SharedCount, SharedCounts } from "./threads/shared_counts.ts";

/** Default limit of concurrent requests. */
const MOST_REQUESTS = 1000;
/** Default stall timeout for the next part of a response, in milliseconds. */
export const PATIENCE = 60_000;

/** Produces the parts of a body, until the signal aborts it. */
export type Pieces<Piece> = (
  signal: AbortSignal,
) => AsyncGenerator<Piece, void, undefined>;

export interface StreamOptions {
  /** Memory of the connection, whose server detects stalled clients. */
  readonly room?: ResponseRoom | undefined;
  /** Called once at the end in every case, even if nothing was read or produced. */
  readonly onEnd?: (() => void) | undefined;
}

/** Streams response bodies with backpressure, a concurrency limit and a stall timeout. */
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

  /** Counts a request towards the limit until it is answered. */
  async count<T>(answer: () => Promise<T>): Promise<T> {
    const { whole } = this.#counts;
    this.#begin(whole);
    try {
      return await answer();
    } finally {
      whole.end();
    }
  }

  /** Creates a streaming body, which counts towards the limit until its end. Throws if the limit is reached. */
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
          `Cannot send the response: the client has read nothing for ${
            this.#patience / 1000
          } s`,
        );
        controller.error(new TruncatedResponse(error));
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
          if (!isOpen) return; // the client has disconnected
          end(error);
          this.#onError(error);
          throw new TruncatedResponse(error);
        }
      },
      cancel: async (reason) => {
        end(reason);
        await pieces.return().catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  /** Creates a streaming body of text; see {@linkcode Streams.of}. */
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
          text = text.slice(read); // freed while the piece is sent
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
      `Cannot answer now: the server answers ${this.#most} requests. Try again soon`,
    );
  }
}

/** Error of a truncated body. `Deno.serve` prints it, so it formats as one line without a stack. */
class TruncatedResponse extends Error {
  override name = "CutAnswer";

  constructor(cause: unknown) {
    super("a response was cut off, because its source failed", { cause });
  }

  [Symbol.for("Deno.customInspect")](): string {
    return `recordfs: ${this.message}`;
  }
}
