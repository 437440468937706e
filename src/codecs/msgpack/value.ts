import { RecordfsError } from "../../base/errors.ts";

/** A value of MessagePack; see {@linkcode readMsgpack} for which becomes what. */
export type MsgpackValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | MsgpackValue[]
  | { [key: string]: MsgpackValue }
  | Map<MsgpackValue, MsgpackValue>
  | MsgpackExt
  | MsgpackTimestamp;

/** A value that {@linkcode writeMsgpack} writes: one that is read, or {@linkcode MsgpackFloat}. */
export type PackableValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly PackableValue[]
  | { readonly [key: string]: PackableValue }
  | ReadonlyMap<PackableValue, PackableValue>
  | MsgpackExt
  | MsgpackFloat
  | MsgpackTimestamp;

/** Bytes with an application's own type (Python's `msgpack.ExtType`). */
export class MsgpackExt {
  /** From 0 to 127 for applications, below 0 for the format. */
  readonly type: number;
  /** The bytes. */
  readonly data: Uint8Array;

  /**
   * Makes an extension.
   *
   * @param type -128 to 127; -1 is {@linkcode MsgpackTimestamp}, and Python takes none below 0.
   * @param data The bytes.
   */
  constructor(type: number, data: Uint8Array) {
    this.type = type;
    this.data = data;
    if (Number.isInteger(type) && type >= -128 && type <= 127 && type !== -1) {
      return;
    }
    throw new RangeError(
      `An extension's type of ${type}: give a whole number from 0 to 127`,
    );
  }
}

/** A moment (Python's `msgpack.Timestamp`). */
export class MsgpackTimestamp {
  /** Since 1970 in UTC; a `bigint` beyond 2^53. */
  readonly seconds: number | bigint;
  /** From 0 to 999,999,999. */
  readonly nanoseconds: number;

  /**
   * Makes a moment.
   *
   * @param seconds Since 1970 in UTC; a `bigint` beyond 2^53.
   * @param nanoseconds 0 to 999,999,999.
   */
  constructor(seconds: number | bigint, nanoseconds = 0) {
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
    const whole = typeof seconds === "bigint"
      ? BigInt.asIntN(64, seconds) === seconds
      : Number.isSafeInteger(seconds);
    const fraction = Number.isInteger(nanoseconds) && nanoseconds >= 0 &&
      nanoseconds < 1e9;
    if (whole && fraction) return;
    throw new RangeError(
      `A timestamp of ${seconds} seconds and ${nanoseconds} nanoseconds: give whole seconds ` +
        "within 64 bits, and 0 to 999999999 nanoseconds",
    );
  }
}

/**
 * A number that is written as a float also where it is whole, as Python writes `1.0`: JavaScript
 * does not tell that from `1`.
 */
export class MsgpackFloat {
  /** The number. */
  readonly value: number;

  /** Makes a float of any number. */
  constructor(value: number) {
    this.value = value;
  }
}

/** Tells whether a number is written as an int unless it is a {@linkcode MsgpackFloat}. */
export function isWrittenAsInt(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Deepest nesting of values: as deep as Python's `msgpack` reads. */
export const DEEPEST = 1024;

/**
 * Whether a plain object can hold these keys in this order: all are strings, and those that number
 * elements, which an object sorts to its front, stand there already.
 */
export function objectKeepsOrder(
  keys: readonly unknown[],
): keys is readonly string[] {
  let last = -1;
  for (const key of keys) {
    if (typeof key !== "string") return false;
    if (isElementNumber(key)) {
      const number = Number(key);
      if (number < last) return false;
      last = number;
    } else last = Infinity;
  }
  return true;
}

/** The array indices of ECMAScript, up to 2^32 - 2. */
function isElementNumber(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^(0|[1-9]\d{0,9})$/.test(key) &&
    Number(key) < 2 ** 32 - 1;
}

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
