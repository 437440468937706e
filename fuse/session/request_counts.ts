import { errorText, lastErrno, libc } from "../libc.ts";
import { COUNTS, COUNTS_SIZE } from "../limits.ts";
import { MountError } from "../mounting/mount_error.ts";
import { OPCODES } from "../wire/opcodes.ts";

/** Slots of a thread's memory, 64-bit floating point: requests by opcode, then these. */
const KINDS = 64;
const BYTES = KINDS;
const ERRORS = KINDS + 1;
/** Of the thread that fetches: bytes, requests, those that were sent again, and READs that waited for it. */
const FETCHED = KINDS + 2;
const ASKED = KINDS + 3;
const RETRIED = KINDS + 4;
const WAITED = KINDS + 5;

/** Bytes of one thread's counts. */
const THREAD_SIZE = COUNTS * Float64Array.BYTES_PER_ELEMENT;

/** From `sys/mman.h`. */
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

/** Work done by the threads that serve a mount. */
export interface ServedCounts {
  /** Requests by name, such as `READ`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Bytes of all replies. */
  readonly bytes: number;
  /** Replies that were EIO. */
  readonly errors: number;
  /** What was fetched from servers; `undefined` where nothing was asked for. */
  readonly fetched: FetchedCounts | undefined;
}

/** What was fetched from servers. */
export interface FetchedCounts {
  readonly bytes: number;
  /** Requests to them. */
  readonly requests: number;
  /** Those of them that were made because one before had failed. */
  readonly retries: number;
  /** READs of the kernel that had to wait for them, or be compared by who fetches. */
  readonly waited: number;
  /** All other READs: their bytes were there. */
  readonly hits: number;
}

/** Counts what one thread does. That costs it an addition, since nobody else writes there. */
export class RequestCounts {
  readonly #slots: Float64Array;

  /**
   * @param address Where the thread's counts are, as {@linkcode mapCounts} has it; elsewhere nobody asks
   * for them.
   */
  constructor(address: number | undefined) {
    if (address === undefined) {
      this.#slots = new Float64Array(COUNTS);
      return;
    }
    const pointer = Deno.UnsafePointer.create(BigInt(address))!;
    const { getArrayBuffer } = Deno.UnsafePointerView;
    this.#slots = new Float64Array(getArrayBuffer(pointer, THREAD_SIZE));
  }

  /** A request came. */
  request(opcode: number): void {
    this.#slots[opcode < KINDS ? opcode : 0]!++;
  }

  /** A reply of so many bytes was sent. */
  reply(bytes: number): void {
    this.#slots[BYTES]! += bytes;
  }

  /** So many bytes came from a server. */
  fetched(bytes: number): void {
    this.#slots[FETCHED]! += bytes;
  }

  /** A server was asked. */
  asked(): void {
    this.#slots[ASKED]!++;
  }

  /** What it was asked failed, and is asked again. */
  retried(): void {
    this.#slots[RETRIED]!++;
  }

  /** A READ waits for a server. */
  waited(): void {
    this.#slots[WAITED]!++;
  }

  /** A request ended with EIO. */
  error(): void {
    this.#slots[ERRORS]!++;
  }
}

/**
 * Maps the file that the threads of a mount count in, those of later servers too.
 *
 * @returns Where the counts of the thread of that number are.
 * @throws {MountError} If it can't be mapped.
 */
export function mapCounts(fd: number): (thread: number) => number {
  const access = PROT_READ | PROT_WRITE;
  const { ftruncate, mmap } = libc();
  const size = BigInt(COUNTS_SIZE);
  // The first server is given an empty one.
  const address = ftruncate(fd, size) === 0
    ? mmap(null, size, access, MAP_SHARED, fd, 0n)
    : MAP_FAILED;
  if (address === MAP_FAILED) {
    const reason = errorText(lastErrno());
    throw new MountError("server", `Mapping the counts failed: ${reason}`);
  }
  return (thread) => Number(address) + thread * THREAD_SIZE;
}

/** Adds up what such a file holds. */
export function sumCounts(file: Uint8Array<ArrayBuffer>): ServedCounts {
  const slots = new Float64Array(file.buffer);
  const sums = new Float64Array(COUNTS);
  for (let i = 0; i < slots.length; i++) sums[i % COUNTS]! += slots[i]!;
  const requests: Record<string, number> = {};
  for (let opcode = 0; opcode < KINDS; opcode++) {
    if (sums[opcode] === 0) continue;
    requests[OPCODES[opcode]?.name ?? "OTHER"] = sums[opcode]!;
  }
  const fetched = {
    bytes: sums[FETCHED]!,
    requests: sums[ASKED]!,
    retries: sums[RETRIED]!,
    waited: sums[WAITED]!,
    hits: Math.max(0, (requests["READ"] ?? 0) - sums[WAITED]!),
  };
  return {
    requests,
    bytes: sums[BYTES]!,
    errors: sums[ERRORS]!,
    fetched: fetched.requests + fetched.waited > 0 ? fetched : undefined,
  };
}
