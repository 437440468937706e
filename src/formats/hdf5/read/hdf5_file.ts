import { FormatError } from "../../../base/errors.ts";
import { messageOf } from "../../../base/message_text.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import { type Instance, type Library, newInstance } from "./library.ts";

/** Bytes per fetched block of a file that cannot be read at once. */
const BLOCK = 64 << 10;
/** Bytes of blocks that are kept: more than the largest chunk takes. */
const KEPT = 128 << 20;
/** Bytes that are read at once, at most: a chunk as it is stored. */
const MOST_READ = 96 << 20;
/** Retries of a call, each of which has fetched what was missing. */
const MOST_RETRIES = 4096;

/** The library has refused a call. */
export class Refusal extends Error {}

/**
 * File that the library reads. A call that needs bytes that are not there fails; they are fetched, and it is made
 * again. An instance that has crashed is replaced by the next call.
 */
export class Hdf5File {
  readonly source: ByteSource;
  #instance: Instance | undefined;
  #opened: { id: bigint; close: () => void } | undefined;
  #isClosed = false;
  /** Fetched blocks by number. */
  #blocks = new LruCache<Uint8Array>(KEPT);
  #missing: readonly [first: number, past: number] = [0, 0];

  constructor(source: ByteSource) {
    this.source = source;
  }

  /**
   * Calls the library.
   *
   * @param what Object of the file, for messages.
   * @param act May run several times. Throws {@linkcode Refusal} if the library returns an error.
   * @throws {FormatError} If the file is damaged there, or refers to another file.
   */
  *call<T>(
    what: string,
    act: (library: Library, file: bigint) => T,
  ): Steps<T> {
    for (let tries = 0; tries < MOST_RETRIES; tries++) {
      const instance = yield* this.#ready();
      instance.begin();
      try {
        const { id } = this.#opened ??= this.#open(instance);
        const result = act(instance.library, id);
        if (!isTroubled(instance)) return result;
      } catch (error) {
        if (!isTroubled(instance) && error instanceof FormatError) throw error;
        this.#judge(instance, what, error);
      }
      if (instance.failure !== undefined) throw instance.failure;
      if (instance.isMissing) {
        yield* this.#fetch();
        continue;
      }
      if (instance.denied !== undefined) {
        throw this.#error(
          "unsupported",
          what,
          `it refers to another file, '${instance.denied}', which is not opened. Copy the data into this file`,
        );
      }
      throw this.#damaged(what, "it takes too much memory");
    }
    throw this.#damaged(what, "its parts are found in too many steps");
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#opened?.close();
    this.#opened = this.#instance = undefined;
    this.#blocks = new LruCache(KEPT);
    this.source.close();
  }

  *#ready(): Steps<Instance> {
    requireOpen(this.source.name, this.#isClosed);
    if (this.#instance === undefined || this.#instance.isDead) {
      this.#opened = undefined;
      this.#instance = yield* newInstance(this.source.name);
    }
    return this.#instance;
  }

  #open(instance: Instance): { id: bigint; close: () => void } {
    const opened = instance.open(
      this.source.size,
      (into, offset) => this.#readNow(into, offset),
    );
    if (opened.id >= 0n) return opened;
    opened.close();
    throw new Refusal();
  }

  /** Turns an error of a call into that of a damaged file, unless bytes were missing. */
  #judge(instance: Instance, what: string, error: unknown): void {
    instance.isDead ||= !isThrown(error);
    if (instance.isMissing || instance.failure !== undefined) return;
    if (instance.denied !== undefined) return;
    const { reason = messageOf(error) } = instance;
    if (instance.isDead) throw this.#damaged(what, "the library fails", error);
    throw this.#damaged(what, reason || "its structure is wrong", error);
  }

  #damaged(what: string, why: string, cause?: unknown): FormatError {
    const isCut = why.startsWith("truncated file");
    return this.#error(
      isCut ? "truncated" : "bad-structure",
      what,
      `${why.replace(/\.$/, "")}: it is damaged. Download it again`,
      cause,
    );
  }

  #error(
    code: FormatError["code"],
    what: string,
    why: string,
    cause?: unknown,
  ): FormatError {
    const { name: path } = this.source;
    const place = what === "/" ? path : `'${what}' in ${path}`;
    return new FormatError(code, `Cannot read ${place}: ${why}`, {
      path,
      ...what === "/" ? {} : { member: what },
      cause,
    });
  }

  #readNow(into: Uint8Array, offset: number): boolean {
    const { source } = this;
    if (into.length > MOST_READ) {
      throw this.#error(
        "too-large",
        "/",
        `it has a part of ${into.length} bytes, more than the limit of ${MOST_READ}`,
      );
    }
    if (source.readAtSync !== undefined) {
      if (source.readAtSync(into, offset) === into.length) return true;
      throw this.#error("out-of-bounds", "/", "it has become shorter");
    }
    const first = Math.floor(offset / BLOCK);
    const past = Math.ceil((offset + into.length) / BLOCK);
    for (let number = first; number < past; number++) {
      const block = this.#blocks.get(number);
      if (block === undefined) {
        this.#missing = [number, past];
        return false;
      }
      const start = number * BLOCK - offset;
      const from = Math.max(0, -start);
      into.set(
        block.subarray(from, from + into.length - Math.max(0, start)),
        Math.max(0, start),
      );
    }
    return true;
  }

  *#fetch(): Steps<void> {
    const [first, past] = this.#missing;
    const start = first * BLOCK;
    const end = Math.min(past * BLOCK, this.source.size);
    const bytes = yield* readPart(this.source, start, end - start);
    for (let number = first; number < past; number++) {
      const at = (number - first) * BLOCK;
      this.#blocks.set(number, bytes.slice(at, at + BLOCK), BLOCK);
    }
  }
}

function isTroubled(
  { denied, failure, isDead, isMissing }: Instance,
): boolean {
  return denied !== undefined || failure !== undefined || isDead || isMissing;
}

/** Whether an error is thrown on purpose, by this code or the library's, which goes on afterwards. */
function isThrown(error: unknown): boolean {
  return error instanceof Refusal || error instanceof FormatError ||
    error instanceof Error && error.constructor === Error;
}
