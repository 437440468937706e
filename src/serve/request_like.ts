import type { AnswerRoom } from "./answer_room.ts";

/** What is asked of a request's headers; names are in lower case. */
export type HeadersLike = Pick<Headers, "get" | "has">;

/** What is looked at of a request, whoever received it: a `Request` is one. */
export interface RequestLike {
  readonly method: string;
  /** Whole, and as it was asked for: nothing in it is resolved. */
  readonly url: string;
  readonly headers: HeadersLike;
  readonly body: AsyncIterable<Uint8Array> | null;
  /**
   * Aborted when the client leaves before it is answered, where that is known. The `signal` of a `Request` says something
   * else under `Deno.serve`: there it is aborted behind each answer.
   */
  readonly leaving?: AbortSignal | undefined;
  /**
   * Aborted also when the client closes its sending half. A client that cancels does no more, and a client that still
   * waits does no less; nginx takes both for cancelled, and so does work that is not worth doing for nobody.
   */
  readonly closing?: AbortSignal | undefined;
  /** Memory that its answer may take; not limited if `undefined`. */
  readonly room?: AnswerRoom | undefined;
}
