import { RecordfsError } from "../../base/errors.ts";

/** MessagePack value as {@linkcode readMsgpack} returns it. */
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

/** Value that {@linkcode writeMsgpack} accepts: any that is read, or {@linkcode MsgpackFloat}. */
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

/** Bytes with an application-defined type (Python's `msgpack.ExtType`). */
export class MsgpackExt {
  /** 0 to 127 for applications, negative for the format itself. */
  readonly type: number;
  /** Content of the extension. */
  readonly data: Uint8Array;

  /**
   * Creates an extension.
   *
   * @param type -128 to 127, but not -1, which is {@linkcode MsgpackTimestamp}. Python accepts no negative type.
   * @param data Content.
   */
  constructor(type: number, data: Uint8Array) {
    this.type = type;
    this.data = data;
    if (Number.isInteger(type) && type >= -128 && type <= 127 && type !== -1) {
      return;
    }
    throw new RangeError(
      "The type of an extension must be a whole number from 0 to 127, not " +
        `${type}`,
    );
  }
}

/** Point in time (Python's `msgpack.Timestamp`). */
export class MsgpackTimestamp {
  /** Seconds since 1970 in UTC; a `bigint` beyond 2^53. */
  readonly seconds: number | bigint;
  /** 0 to 999,999,999. */
  readonly nanoseconds: number;

  /**
   * Creates a timestamp.
   *
   * @param seconds Seconds since 1970 in UTC; a `bigint` beyond 2^53.
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
      "A timestamp must have whole seconds within 64 bits and 0 to 999999999 " +
        `nanoseconds, not ${seconds} seconds and ${nanoseconds} nanoseconds`,
    );
  }
}

/**
 * Number that is written as a float even if integral, as Python writes `1.0`, which JavaScript does not distinguish
 * from `1`.
 */
export class MsgpackFloat {
  /** Its value. */
  readonly value: number;

  /** Wraps any number. */
  constructor(value: number) {
    this.value = value;
  }
}

/** Whether a number is written as an int, unless wrapped in {@linkcode MsgpackFloat}. */
export function isWrittenAsInt(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Nesting limit, the same as of Python's `msgpack`. */
export const DEEPEST = 1024;

/** Whether a plain object keeps the order of these keys: all are strings, with array indices first and sorted. */
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

/** Whether a key is an ECMAScript array index, up to 2^32 - 2. */
function isElementNumber(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^(0|[1-9]\d{0,9})$/.test(key) &&
    Number(key) < 2 ** 32 - 1;
}

/** Bytes are not MessagePack, or are truncated. */
export class MsgpackError extends RecordfsError<"bad-msgpack"> {
  /** Byte offset at which reading stopped. */
  declare readonly offset: number;

  /**
   * Creates an error about an offset.
   *
   * @param reason Continues "Not sound MessagePack: ".
   */
  constructor(offset: number, reason: string, cause?: unknown) {
    super(
      "bad-msgpack",
      `Cannot decode MessagePack: ${reason} (byte ${offset}): it is ` +
        "damaged, or not MessagePack at all",
      { offset, cause },
    );
  }
}
