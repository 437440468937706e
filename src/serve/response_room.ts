/** Maximum bytes of a body in memory at a time. */
export const PIECE = 1 << 20;

/** Memory reserved for a response from the server's budget, until it has been sent or has failed. */
export interface ResponseRoom {
  /** Allocates memory for a whole response; `undefined` if there is not enough, and it must be streamed. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Waits for memory for a whole response whose size is known once it is {@linkcode ResponseRoom.made}.
   *
   * @param bytes Estimated bytes needed to make it.
   * @throws {ServeError} If the memory is not available in time.
   */
  wait(bytes: number): Promise<void>;
  /** Reports the response's actual size in bytes. */
  made(bytes: number): void;
  /** Allocates the next piece of a body in place of the last; of at most 16 KiB if memory is short. */
  piece(bytes: number): Uint8Array<ArrayBuffer>;
}

/** Allocates memory for the next piece of a body, from the server's budget if there is one. */
export function nextPiece(
  room: ResponseRoom | undefined,
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const most = Math.min(bytes, PIECE);
  return room === undefined ? new Uint8Array(most) : room.piece(most);
}
