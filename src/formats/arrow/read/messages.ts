import { viewOf } from "../../../base/view_of.ts";
import { fileError } from "../../../codecs/cells/cell_fault.ts";
import {
  type Batch,
  METADATA,
  type Metadata,
} from "../../../codecs/columnar/messages.ts";
import { readFlatBuffer } from "../../../codecs/flatbuffer/read_flatbuffer.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { HeadWindows } from "../../../io/read/head_windows.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  CONTINUATION,
  Kind,
  LARGEST_METADATA,
  PREFIX_SIZE,
} from "../layout.ts";

/** Smallest read of a message: its prefix, and more than the metadata of narrow tables. */
const LEAST = 1 << 10;

/** A message without its body. */
export interface Message extends Metadata {
  /** Offset and bytes of its metadata in the file. */
  readonly start: number;
  readonly length: number;
  /** Offset of its body in the file. */
  readonly body: number;
}

/** Requires that metadata, such as `its footer`, are within the limit. */
export function requireSmall(path: string, what: string, length: number): void {
  if (length <= LARGEST_METADATA) return;
  const why =
    `${what} has ${length} bytes of metadata, and the limit is ${LARGEST_METADATA}`;
  throw fileError(path, why, "too-large");
}

/** Makes the fault of a part of a file, for {@linkcode readFlatBuffer}. */
export function damaged(path: string, what: string): (why: string) => Error {
  return (why) => fileError(path, `${what} is damaged: it ${why}`);
}

/** Decodes the metadata of the message at an offset. Throws `FormatError` if it is damaged. */
export function metadataIn(
  path: string,
  bytes: Uint8Array,
  offset: number,
): Metadata {
  const fault = damaged(path, `the message at byte ${offset}`);
  return readFlatBuffer<Metadata>(bytes, METADATA, fault);
}

/** Returns the batch of rows, or of a dictionary's values, in a message. */
export function batchOf({ header }: Metadata): Batch | undefined {
  if (header.kind === Kind.ROWS) return header;
  return header.kind === Kind.DICTIONARY ? header.data : undefined;
}

/** Reads messages without their bodies. */
export class MessageReader {
  readonly #source: ByteSource;
  readonly #end: number;
  readonly #windows: HeadWindows | undefined;
  #passed: number | undefined;

  /**
   * @param end Where the messages end.
   * @param isScan Whether messages are read one after the other, since each says where the next is.
   */
  constructor(source: ByteSource, end: number, isScan: boolean) {
    this.#source = source;
    this.#end = end;
    this.#windows = isScan
      ? new HeadWindows(source, PREFIX_SIZE, LEAST)
      : undefined;
  }

  /** Reads the message at an offset; `undefined` at the end of the stream, or of the file. */
  *at(offset: number): Steps<Message | undefined> {
    const { name: path } = this.#source;
    const left = this.#end - offset;
    if (left <= 0) return undefined;
    let prefix = 4; // before version 0.15
    this.#require(offset, prefix);
    const head = yield* this.#read(offset, Math.min(PREFIX_SIZE, left));
    const view = viewOf(head);
    let length = view.getUint32(0, true);
    if (length === CONTINUATION) {
      prefix = PREFIX_SIZE;
      this.#require(offset, prefix);
      length = view.getUint32(4, true);
    }
    if (length === 0) return undefined;
    const start = offset + prefix;
    this.#require(offset, prefix + length);
    requireSmall(path, `the message at byte ${offset}`, length);
    const bytes = yield* this.#read(start, length);
    const metadata = metadataIn(path, bytes, offset);
    const { bodyLength } = metadata;
    this.#require(offset, prefix + length + bodyLength);
    this.#passed = bodyLength;
    return { ...metadata, start, length, body: start + length };
  }

  #read(offset: number, length: number): Steps<Uint8Array> {
    return this.#windows?.read(offset, length, this.#passed) ??
      readPart(this.#source, offset, length);
  }

  #require(offset: number, length: number): void {
    if (length > 0 && offset + length <= this.#end) return;
    throw fileError(
      this.#source.name,
      `it is truncated: the message at byte ${offset} has ${length} bytes or more, and the messages end at byte ${this.#end}`,
      "truncated",
    );
  }
}
