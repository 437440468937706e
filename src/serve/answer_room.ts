/** Most bytes of a body that are in memory at a time. */
export const PIECE = 1 << 20;

/** Memory that an answer may take, of what a server has for all: until it was sent, or has failed. */
export interface AnswerRoom {
  /** Takes memory for a whole answer; `undefined` where there is not enough: it must be sent in pieces then. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Waits for memory for a whole answer whose size shows when it is {@linkcode AnswerRoom.made}.
   *
   * @param bytes How many it takes to make it, about.
   * @throws {ServeError} If it is not there in time.
   */
  wait(bytes: number): Promise<void>;
  /** Says how many bytes it has. */
  made(bytes: number): void;
  /**
   * Gives memory for the next piece of a body, in place of the last one's.
   *
   * @returns So many bytes, or fewer: where memory is short, 16 KiB.
   */
  piece(bytes: number): Uint8Array<ArrayBuffer>;
}

/** Memory for the next piece of a body, where a request came over a server that limits it, and where not. */
export function nextPiece(
  room: AnswerRoom | undefined,
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const most = Math.min(bytes, PIECE);
  return room === undefined ? new Uint8Array(most) : room.piece(most);
}
