import { FormatError } from "../../src/base/errors.ts";
import { type Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { CopyBytes } from "./copy_bytes.ts";
import type { FileGuard } from "./served_file.ts";
import type { ServedSource } from "./served_sources.ts";

/** Longest guard, in bytes. */
const MOST = 4096;

/**
 * Reads files that other programs write in place. The bytes are copied before the guard is compared, since the kernel
 * would copy them from the map later, and cache them.
 */
export class GuardedReads {
  readonly #content: CopyBytes;
  readonly #now = new CopyBytes(new Uint8Array(MOST));

  /** @param reply Its buffer takes the contents. */
  constructor(reply: Reply) {
    const body = reply.bytes.subarray(REPLY_HEADER_SIZE);
    this.#content = new CopyBytes(body as Uint8Array<ArrayBuffer>);
  }

  /**
   * Answers a READ.
   *
   * @throws {FormatError} With code `changed` if the file is no longer in the state that was opened.
   */
  answer(
    reply: Reply,
    source: ServedSource,
    { offset, bytes }: FileGuard,
    start: number,
    length: number,
  ): void {
    this.#content.copy(source, start, length, true);
    this.#now.copy(source, offset, bytes.length, false);
    const { into } = this.#now;
    for (let i = 0; i < bytes.length; i++) {
      if (into[i] !== bytes[i]) throw overwritten(source.name);
    }
    reply.body(length);
  }
}

function overwritten(path: string): FormatError {
  return new FormatError(
    "changed",
    `Cannot read ${path}: another program has written over the state that was mounted. Mount it again`,
    { path },
  );
}
