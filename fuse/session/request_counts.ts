import { errorText, lastErrno, libc } from "../libc.ts";
import { COUNTS, COUNTS_SIZE } from "../limits.ts";
import { MountError } from "../mounting/mount_error.ts";
import { OPCODES } from "../wire/opcodes.ts";

/** Slots of a thread's memory, as 64-bit floats: requests by opcode, then these. */
const KINDS = 64;
const BYTES = KINDS;
const ERRORS = KINDS + 1;
/** Counters of the fetch thread: bytes, requests, retries, and READs that waited for it. */
const FETCHED = KINDS + 2;
const ASKED = KINDS + 3;
const RETRIED = KINDS + 4;
const WAITED = KINDS + 5;

const THREAD_SIZE = COUNTS * Float64Array.BYTES_PER_ELEMENT;

/** From `sys/mman.h`. */
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

export interface ServedCounts {
  /** Requests by name, such as `READ`. */
  readonly requests: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** Number of EIO replies. */
  readonly errors: number;
  /** Totals of remote fetches; `undefined` if there were none. */
  readonly fetched: FetchedCounts | undefined;
}

export interface FetchedCounts {
  readonly bytes: number;
  readonly requests: number;
  /** Requests that repeat a failed one. */
  readonly retries: number;
  /** READs of the kernel that waited for a server, or were verified by the fetch thread. */
  readonly waited: number;
  /** All other READs, answered from cached bytes. */
  readonly hits: number;
}

/** Counters of one thread. Only this thread writes them, so counting is a plain addition. */
export class RequestCounts {
  readonly #slots: Float64Array;

  /** @param address Address of the thread's counters from {@linkcode mapCounts}; `undefined` for private ones. */
  constructor(address: number | undefined) {
    if (address === undefined) {
      this.#slots = new Float64Array(COUNTS);
      return;
    }
    const pointer = Deno.UnsafePointer.create(BigInt(address))!;
    const { getArrayBuffer } = Deno.UnsafePointerView;
    this.#slots = new Float64Array(getArrayBuffer(pointer, THREAD_SIZE));
  }

  request(opcode: number): void {
    this.#slots[opcode < KINDS ? opcode : 0]!++;
  }

  reply(bytes: number): void {
    this.#slots[BYTES]! += bytes;
  }

  fetched(bytes: number): void {
    this.#slots[FETCHED]! += bytes;
  }

  asked(): void {
    this.#slots[ASKED]!++;
  }

  retried(): void {
    this.#slots[RETRIED]!++;
  }

  waited(): void {
    this.#slots[WAITED]!++;
  }

  error(): void {
    this.#slots[ERRORS]!++;
  }
}

/** Maps the counter file of a mount, which later servers use too. Returns the address of each thread's counters. */
export function mapCounts(fd: number): (thread: number) => number {
  const access = PROT_READ | PROT_WRITE;
  const { ftruncate, mmap } = libc();
  const size = BigInt(COUNTS_SIZE);
  // For the first server the file is empty.
  const address = ftruncate(fd, size) === 0
    ? mmap(null, size, access, MAP_SHARED, fd, 0n)
    : MAP_FAILED;
  if (address === MAP_FAILED) {
    const reason = errorText(lastErrno());
    throw new MountError(
      "server",
      `Cannot serve the mount: mapping its counts failed: ${reason}`,
    );
  }
  return (thread) => Number(address) + thread * THREAD_SIZE;
}

/** Sums the counters of all threads in a counter file. */
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
