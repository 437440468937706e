import { FormatError } from "../../src/base/errors.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import { fill } from "../../src/io/read/read_part.ts";
import type { MadeSource } from "../../src/io/storage/made_source.ts";
import { addressOf, errorText, lastErrno, libc } from "../libc.ts";
import type { ServedSource } from "./served_sources.ts";

/**
 * Copies bytes of sources to memory that JavaScript may read. JavaScript must not read a map directly:
 * if the file was truncated, the access would kill the process.
 */
export class CopyBytes {
  readonly into: Uint8Array<ArrayBuffer>;
  /** Each is one struct iovec of `bits/types/struct_iovec.h`, as two 64-bit values in pairs of words. */
  readonly #to = new Uint32Array(4);
  readonly #from = new Uint32Array(4);
  readonly #toBytes = new Uint8Array(this.#to.buffer);
  readonly #fromBytes = new Uint8Array(this.#from.buffer);

  constructor(into: Uint8Array<ArrayBuffer>) {
    this.into = into;
    const address = addressOf(into);
    this.#to[0] = address;
    this.#to[1] = address / 0x1_0000_0000;
  }

  /**
   * Copies bytes of a source, at most the length of `into`.
   *
   * @param isSent Whether all of them are sent to the kernel, which caches them.
   * @throws {FormatError} If some of them cannot be read.
   */
  copy(
    source: ServedSource,
    offset: number,
    length: number,
    isSent: boolean,
  ): void {
    if (source.made !== undefined) {
      const into = this.into.subarray(0, length);
      copyMade(source.made, into, offset, isSent);
      return;
    }
    const fd = source.file?.fd ?? -1;
    const got = fd < 0
      ? this.#copyMapped(source.address + offset, length)
      : libc().pread(fd, this.into, length, BigInt(offset));
    if (got === length) return;
    const why = got < 0 ? errorText(lastErrno()) : "the file is truncated";
    source.file?.hasChanged(); // logs the change first
    throw new FormatError(
      "out-of-bounds",
      `Cannot read ${source.name} at byte ${offset}: ${why}. Download it again`,
      { path: source.name, offset, expected: length, actual: got },
    );
  }

  /** Copies from a map by process_vm_readv(2), which stops at the end of a truncated file. */
  #copyMapped(address: number, length: number): number {
    const to = this.#to;
    const from = this.#from;
    to[2] = length;
    from[0] = address;
    from[1] = address / 0x1_0000_0000;
    from[2] = length;
    return libc().processVmReadv(
      Deno.pid,
      this.#toBytes,
      1,
      this.#fromBytes,
      1,
      0,
    );
  }
}

/** Copies bytes of a source that is not mapped. `isSent` is as for {@linkcode CopyBytes.copy}. */
export function copyMade(
  source: MadeSource,
  into: Uint8Array,
  offset: number,
  isSent: boolean,
): void {
  runSync(
    isSent && source.fillToKeep
      ? source.fillToKeep(into, offset)
      : fill(source, into, offset),
  );
}
