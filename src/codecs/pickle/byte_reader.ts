import { LONGEST_PICKLE } from "./int_column.ts";
import { PickleError } from "./pickle_error.ts";

/** Reads a pickle's arguments; nothing is ever read or allocated past its end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  position = 0;
  readonly #view: DataView;

  /** @throws {PickleError} If the pickle is longer than positions in it can be. */
  constructor(bytes: Uint8Array) {
    if (bytes.length > LONGEST_PICKLE) {
      throw new PickleError(
        "bad-pickle",
        LONGEST_PICKLE,
        `it has ${bytes.length} bytes, and 2 GiB can be read`,
      );
    }
    this.bytes = bytes;
    this.#view = new DataView(
      bytes.buffer,
      bytes.byteOffset,
      bytes.byteLength,
    );
  }

  /** Moves past `count` bytes and returns where they start. */
  skip(count: number, what: string): number {
    const start = this.position;
    if (count > this.bytes.length - start) {
      throw new PickleError(
        "bad-pickle",
        start,
        `the pickle ends early: ${what} of ${count} bytes exceeds the ` +
          `${this.bytes.length - start} that are left`,
      );
    }
    this.position = start + count;
    return start;
  }

  u8(): number {
    return this.bytes[this.skip(1, "an argument")]!;
  }

  u16(): number {
    return this.#view.getUint16(this.skip(2, "an argument"), true);
  }

  u32(): number {
    return this.#view.getUint32(this.skip(4, "an argument"), true);
  }

  i32(): number {
    return this.#view.getInt32(this.skip(4, "an argument"), true);
  }

  /** A 64-bit length; one beyond 2^53 comes out inexact, which is past any end all the same. */
  u64(): number {
    const start = this.skip(8, "an argument");
    return this.#view.getUint32(start, true) +
      this.#view.getUint32(start + 4, true) * 2 ** 32;
  }

  /** A big-endian double (opcode BINFLOAT). */
  f64(): number {
    return this.#view.getFloat64(this.skip(8, "a float"), false);
  }

  /** An ASCII or Latin-1 line of protocol 0, without its newline. */
  line(): string {
    const start = this.position;
    const end = this.bytes.indexOf(0x0a, start);
    if (end < 0) {
      throw new PickleError(
        "bad-pickle",
        start,
        "the pickle ends early, inside a line",
      );
    }
    this.position = end + 1;
    const { buffer, byteOffset } = this.bytes;
    return Buffer.from(buffer, byteOffset + start, end - start)
      .toString("latin1");
  }
}
