import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { Cursor, type Metadata } from "./metadata.ts";

/** Types of messages of object headers (IV.A.2). */
export const MessageType = {
  DATASPACE: 0x01,
  LINK_INFO: 0x02,
  DATATYPE: 0x03,
  OLD_FILL: 0x04,
  FILL: 0x05,
  LINK: 0x06,
  EXTERNAL_FILES: 0x07,
  LAYOUT: 0x08,
  FILTERS: 0x0b,
  ATTRIBUTE: 0x0c,
  CONTINUATION: 0x10,
  SYMBOL_TABLE: 0x11,
  ATTRIBUTE_INFO: 0x15,
} as const;

export interface Message {
  readonly type: number;
  readonly isShared: boolean;
  readonly bytes: Uint8Array;
  /** Address of the bytes. */
  readonly address: number;
}

/** Bytes of a header that are enough for those before its messages. */
const PREFIX = 64;
const VERSION_2 = "OHDR";
const MORE = "OCHK";
const CHECKSUM = 4;

/** Reads the messages of an object (IV.A.1). */
export function* readMessages(
  metadata: Metadata,
  address: number,
): Steps<Message[]> {
  const { size } = metadata;
  const head = yield* metadata.part(
    address,
    Math.max(0, Math.min(PREFIX, size - address)),
  );
  const messages: Message[] = [];
  const isNew = VERSION_2.charCodeAt(0) === head.bytes[0];
  let flags = 0;
  const blocks: [address: number, length: number, isFirst: boolean][] = [];
  if (isNew) {
    if (head.expect(VERSION_2) !== 2) throw unknownVersion();
    flags = head.u8();
    head.skip((flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
    const length = head.uint(1 << (flags & 3)) + head.at + CHECKSUM;
    blocks.push([address, length, true]);
  } else {
    if (head.u8() !== 1) throw unknownVersion();
    const length = head.skip(7).u32();
    blocks.push([address + 16, length, true]);
  }
  const seen = new Set<number>();
  for (let block = blocks.shift(); block; block = blocks.shift()) {
    const [start, length, isFirst] = block;
    if (seen.has(start)) throw new CellFault("has a header without end");
    seen.add(start);
    const part = isNew
      ? yield* metadata.sealed(start, length, isFirst ? VERSION_2 : MORE)
      : yield* metadata.part(start, length);
    if (isNew) part.at = isFirst ? head.at : MORE.length;
    const end = length - (isNew ? CHECKSUM : 0);
    const least = isNew ? flags & 4 ? 6 : 4 : 8;
    while (part.at + least <= end) {
      const type = part.uint(isNew ? 1 : 2);
      const size = part.u16();
      const own = part.u8();
      part.skip(isNew ? least - 4 : 3);
      const at = start + part.at;
      const bytes = part.take(size);
      if (type === MessageType.CONTINUATION) {
        const place = new Cursor(bytes, metadata);
        blocks.push([place.offset(), place.length(), false]);
      } else {
        const isShared = (own & 2) !== 0;
        messages.push({ type, isShared, bytes, address: at });
      }
    }
  }
  return messages;
}

function unknownVersion(): CellFault {
  return new CellFault("has a header of an unknown version");
}

/** Reads objects, and what they share. */
export class ObjectReader {
  readonly metadata: Metadata;
  /** Shared messages by type and address. */
  readonly #shared = new Map<string, Uint8Array>();

  constructor(metadata: Metadata) {
    this.metadata = metadata;
  }

  /** Finds a message, as its content. */
  *find(messages: readonly Message[], type: number): Steps<Cursor | undefined> {
    const found = messages.find((message) => message.type === type);
    return found && (yield* this.content(found));
  }

  /** Returns the content of a message, which another object may have (IV.A.2, "Shared Message"). */
  *content({ type, isShared, bytes }: Message): Steps<Cursor> {
    const cursor = new Cursor(bytes, this.metadata);
    return isShared ? yield* this.shared(type, cursor) : cursor;
  }

  *shared(type: number, cursor: Cursor): Steps<Cursor> {
    const version = cursor.u8();
    const kind = cursor.u8();
    if (version === 3 && kind === 1) {
      throw new CellFault(
        "shares messages by a table, which is unsupported",
        "unsupported",
      );
    }
    if (version === 1) cursor.skip(6);
    const address = cursor.offset();
    const key = `${type} ${address}`;
    let bytes = this.#shared.get(key);
    if (bytes === undefined) {
      const messages = yield* readMessages(this.metadata, address);
      const found = messages.find((message) =>
        message.type === type && !message.isShared
      );
      if (found === undefined) throw new CellFault("shares what is not there");
      ({ bytes } = found);
      this.#shared.set(key, bytes);
    }
    return new Cursor(bytes, this.metadata);
  }
}
