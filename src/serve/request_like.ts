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
  /** Memory that its answer may take; not limited if `undefined`. */
  readonly room?: AnswerRoom | undefined;
}
