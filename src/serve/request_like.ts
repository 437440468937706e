import type { ResponseRoom } from "./response_room.ts";

/** Header access needed by the server; names are in lower case. */
export type HeadersLike = Pick<Headers, "get" | "has">;

/** Request interface needed by the server; `Request` implements it. */
export interface RequestLike {
  readonly method: string;
  /** Absolute, and verbatim: dot segments are not resolved. */
  readonly url: string;
  readonly headers: HeadersLike;
  readonly body: AsyncIterable<Uint8Array> | null;
  /**
   * Aborted when the client disconnects before the response, if that is known. The `signal` of a `Request` differs
   * under `Deno.serve`: it is aborted after each response.
   */
  readonly leaving?: AbortSignal | undefined;
  /**
   * Like `leaving`, but also aborted when the client closes its sending half. Cancelling clients and some waiting ones
   * do that. Use it, as nginx does, for work that is not worth doing without a client.
   */
  readonly closing?: AbortSignal | undefined;
  /** Memory budget of the response; unlimited if `undefined`. */
  readonly room?: ResponseRoom | undefined;
}
