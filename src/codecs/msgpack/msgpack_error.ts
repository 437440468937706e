import { RecordfsError } from "../../errors.ts";

/** Bytes are not MessagePack, or not whole. */
export class MsgpackError extends RecordfsError<"bad-msgpack"> {
  /** Byte offset at which reading stopped. */
  declare readonly offset: number;

  /**
   * Makes an error about the place at `offset`.
   *
   * @param reason What is wrong there: continues "Not sound MessagePack: ".
   */
  constructor(offset: number, reason: string, cause?: unknown) {
    super(
      "bad-msgpack",
      `Not sound MessagePack: ${reason} (byte ${offset}); ` +
        "it is damaged, or not MessagePack at all",
      { offset, cause },
    );
  }
}
