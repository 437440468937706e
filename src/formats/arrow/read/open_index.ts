import { utf8Text } from "../../../base/utf8.ts";
import {
  cursorAfter,
  START as FIRST,
} from "../../../codecs/columnar/array_cursor.ts";
import {
  FOOTER,
  type Footer,
  type Schema,
} from "../../../codecs/columnar/messages.ts";
import { type ArrowField, fieldOf } from "../../../codecs/columnar/schema.ts";
import { decodeFile, fileError } from "../../../codecs/cells/cell_fault.ts";
import { readFlatBuffer } from "../../../codecs/flatbuffer/read_flatbuffer.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import type { CachedTables } from "../../../io/index_cache/tables_format.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { FormatError } from "../../../base/errors.ts";
import { isShardDamage } from "../../../tree/samples/open_shards.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import type { RowFile } from "../../../tree/rows/row_format.ts";
import { sharedFloat64 } from "../../../tree/shared_numbers.ts";
import {
  FEATHER_1,
  HEAD_SIZE,
  Kind,
  LARGEST_METADATA,
  MAGIC,
  PREFIX_SIZE,
  TAIL_SIZE,
} from "../layout.ts";
import {
  batchOf,
  damaged,
  type Message,
  MessageReader,
  requireSmall,
} from "./messages.ts";

/** Fields of a batch in {@linkcode ArrowIndex.blocks}. */
export const Block = {
  /** Offset and bytes of the metadata. */
  START: 0,
  LENGTH: 1,
  /** Offset and bytes of the body. */
  BODY: 2,
  BODY_LENGTH: 3,
  /** Kind of the message. */
  KIND: 4,
  /** Of a dictionary: its id, and whether the values are added to those before. */
  ID: 5,
  IS_DELTA: 6,
  FIELDS: 7,
} as const;

/** Tables of a file: plain data, in memory that threads share. Batches of dictionaries are groups without rows. */
export interface ArrowIndex
  extends Pick<RowFile, "firsts" | "suffixes" | "damage"> {
  readonly columns: readonly ArrowField[];
  /** Per batch: fields of {@linkcode Block}. */
  readonly blocks: Float64Array;
  /** Per column: bytes of its buffers in all batches. */
  readonly sizes: Float64Array;
}

/** Smallest metadata of a batch in bytes. */
const SMALLEST = 64;
/** Bytes initially read from the end of a file: enough for most footers. */
const FIRST_READ = 1 << 16;
/** First version of metadata that is read: of version 0.8 of the library, from 2017. */
const VERSION_4 = 3;
/** Batches whose metadata are read together. */
const TOGETHER = 64;
/** Maximum number of rows of a batch, as of any array of Arrow. */
const MOST_ROWS = 2 ** 31;

type Tables = Pick<ArrowIndex, "blocks" | "firsts" | "sizes" | "damage">;

/** What a file says before its batches are read. */
interface Contents {
  readonly version: number;
  readonly schema: Schema | undefined;
  /** Offset of the first batch of a stream. */
  readonly start: number;
  /** Where the messages end. */
  readonly end: number;
  /** Of a file; a stream has none. */
  readonly footer?: Footer;
  /** Why a file has none. */
  readonly damage?: FormatError;
}

/**
 * Returns the index of a file or stream, whose batches are cached or found by reading all their metadata.
 *
 * @throws {FormatError} If it is damaged, or of a form that is not supported.
 */
export function* openIndex(
  source: ByteSource,
  onWarning: (message: string) => void,
  options: IndexCacheOptions,
): Steps<ArrowIndex> {
  const { name: path, size } = source;
  const head = yield* readPart(source, 0, Math.min(size, HEAD_SIZE));
  const magic = utf8Text(head.subarray(0, MAGIC.length));
  const refuse = (why: string) => fileError(path, why, "unsupported");
  if (magic.startsWith(FEATHER_1)) {
    throw refuse("it is Feather version 1. Write it as version 2");
  }
  const contents = magic === MAGIC
    ? yield* readFooter(source)
    : yield* readStart(source);
  const { version, schema } = contents;
  if (version < VERSION_4) {
    throw refuse(`its metadata is of version ${version + 1}, from before 2018`);
  }
  if (schema === undefined) throw fileError(path, "it has no schema");
  if (schema.endianness !== 0) {
    throw refuse("it is big-endian, which is not supported");
  }
  const columns = decodeFile(
    path,
    () => schema.fields.map((field) => fieldOf(field)),
  );
  const tables = yield* cachedIndex<Tables>(source, options, {
    kind: "arrow 1",
    entrySize: SMALLEST,
    isCacheable: true,
    count: ({ firsts }) => firsts.length,
    tables: ({ damage, ...made }) =>
      damage ? undefined : { columns: { ...made }, facts: null },
    take: (tables) => taken(tables.columns, columns.length, size),
    make: () => readBatches(source, contents, columns, onWarning),
    headerAt: ({ blocks }, group) =>
      blocks[
        Math.min(group, blocks.length / Block.FIELDS - 1) * Block.FIELDS
      ] ??
        0,
  });
  if (!Number.isSafeInteger(tables.firsts.at(-1)! * (columns.length + 1))) {
    throw fileError(path, "it counts too many rows", "absurd-count");
  }
  return { columns, suffixes: [], ...tables };
}

/** Reads the first message of a stream, which is its schema. */
function* readStart(source: ByteSource, at = 0): Steps<Contents> {
  const { name: path, size } = source;
  const first = yield* new MessageReader(source, size, false).at(at);
  if (first?.header.kind !== Kind.SCHEMA) {
    throw fileError(path, "it does not begin with a schema");
  }
  const { version, header: schema, body, bodyLength } = first;
  return { version, schema, start: body + bodyLength, end: size };
}

/** Reads the footer of a file; if it is lost, the stream in the file. */
function* readFooter(source: ByteSource): Steps<Contents> {
  const { name: path, size } = source;
  const first = Math.min(size, FIRST_READ);
  const tail = yield* readPart(source, size - first, first);
  const magic = utf8Text(tail.subarray(-MAGIC.length));
  if (size < HEAD_SIZE + TAIL_SIZE || magic !== MAGIC) {
    const why = `it does not end in ${MAGIC}: it is truncated, or unfinished`;
    const damage = fileError(path, why, "truncated");
    if (size <= HEAD_SIZE) throw damage;
    return { ...yield* readStart(source, HEAD_SIZE), damage };
  }
  const view = new DataView(tail.buffer, tail.length - TAIL_SIZE);
  const length = view.getUint32(0, true);
  const end = size - TAIL_SIZE - length;
  const has = `its footer has ${length} bytes, and`;
  if (end < HEAD_SIZE) throw fileError(path, `${has} the file ${size}`);
  requireSmall(path, "its footer", length);
  const at = tail.length - TAIL_SIZE - length;
  const bytes = at >= 0
    ? tail.subarray(at, at + length)
    : yield* readPart(source, end, length);
  const fault = damaged(path, "its footer");
  const footer = readFlatBuffer<Footer>(bytes, FOOTER, fault);
  const { version, schema } = footer;
  return { version, schema, start: HEAD_SIZE, end, footer };
}

/** Tables of the batches that have been found. */
class FoundBatches {
  readonly #path: string;
  readonly #columns: readonly ArrowField[];
  readonly #blocks = new GrowingNumbers();
  readonly #firsts = new GrowingNumbers();
  readonly #sizes: Float64Array;
  readonly #size: number;
  #rows = 0;
  #bytes = 0;

  constructor({ name, size }: ByteSource, columns: readonly ArrowField[]) {
    this.#path = name;
    this.#size = size;
    this.#columns = columns;
    this.#sizes = sharedFloat64(columns.length);
    this.#firsts.push(0);
  }

  add(message: Message): void {
    const { start, length, body, bodyLength, header } = message;
    const batch = batchOf(message);
    if (
      !(batch !== undefined && batch.length >= 0 && batch.length < MOST_ROWS)
    ) {
      throw fileError(
        this.#path,
        `the message at byte ${start} has ${batch?.length ?? "no"} rows`,
        batch && "absurd-count",
      );
    }
    const { kind } = header;
    const of = kind === Kind.DICTIONARY ? [header.id, +header.isDelta] : [0, 0];
    const block = [start, length, body, bodyLength, kind, ...of];
    for (const number of block) this.#blocks.push(number);
    this.#bytes += length + bodyLength;
    if (this.#bytes > this.#size) {
      throw fileError(this.#path, "its batches overlap");
    }
    let at = FIRST;
    for (const [i, column] of this.#columns.entries()) {
      if (kind !== Kind.ROWS) break;
      const { buffer } = at;
      at = cursorAfter(column, batch, at);
      for (const [, length] of batch.buffers.slice(buffer, at.buffer)) {
        this.#sizes[i]! += length;
      }
    }
    this.#rows += kind === Kind.ROWS ? batch.length : 0;
    this.#firsts.push(this.#rows);
  }

  /** @throws {FormatError} If damage leaves no rows. */
  finish(damage?: FormatError): Tables {
    if (damage !== undefined && this.#rows === 0) throw damage;
    return {
      ...damage && { damage: { code: damage.code, message: damage.message } },
      firsts: sharedFloat64(this.#firsts.finish()),
      blocks: sharedFloat64(this.#blocks.finish()),
      sizes: this.#sizes,
    };
  }
}

/** Finds all batches: by the footer, whose dictionaries precede all rows, or from message to message. */
function* readBatches(
  source: ByteSource,
  { start, end, footer, damage }: Contents,
  columns: readonly ArrowField[],
  onWarning: (message: string) => void,
): Steps<Tables> {
  const { name: path, size } = source;
  const reader = new MessageReader(source, end, footer === undefined);
  const found = new FoundBatches(source, columns);
  if (footer !== undefined) {
    const { dictionaries, batches } = footer;
    const all = [...dictionaries, ...batches];
    for (let at = 0; at < all.length; at += TOGETHER) {
      const some = all.slice(at, at + TOGETHER);
      const messages: (Message | undefined)[] = [];
      yield* inParallel(some.map(function* ([offset], i): Steps<void> {
        if (offset >= start) messages[i] = yield* reader.at(offset);
      }));
      for (const [i, [offset, metadataLength, bodyLength]] of some.entries()) {
        const message = messages[i];
        const isDictionary = at + i < dictionaries.length;
        const isSame = message?.body === offset + metadataLength &&
          message.bodyLength === bodyLength &&
          message.header.kind === (isDictionary ? Kind.DICTIONARY : Kind.ROWS);
        if (isSame) found.add(message);
        else {
          throw fileError(
            path,
            `its footer has no batch, or another, at byte ${offset}`,
          );
        }
      }
    }
    return found.finish();
  }
  let at = start;
  try {
    for (let next; (next = yield* reader.at(at)) !== undefined;) {
      found.add(next);
      at = next.body + next.bodyLength;
    }
  } catch (error) {
    // Without a whole message, nothing tells where the next one is.
    if (!isShardDamage(error)) throw error;
    return found.finish(error);
  }
  if (damage !== undefined) return found.finish(damage);
  const after = size - at - PREFIX_SIZE;
  if (after > 0) {
    onWarning(
      `${path}: ${after} bytes after the end of its stream are ignored`,
    );
  }
  return found.finish();
}

/** Returns cached tables, if they fit a file of that size: they are not trusted. */
function taken(
  columns: CachedTables["columns"],
  count: number,
  size: number,
): Tables | undefined {
  const tables = columns as unknown as Tables;
  const { firsts, blocks, sizes } = tables;
  const { START, LENGTH, BODY, BODY_LENGTH, FIELDS } = Block;
  const areNumbers = [firsts, blocks, sizes].every((column) =>
    column instanceof Float64Array && column.every(Number.isSafeInteger)
  );
  if (!areNumbers) return undefined;
  if (sizes.length !== count || firsts[0] !== 0) return undefined;
  if (blocks.length !== (firsts.length - 1) * FIELDS) return undefined;
  for (let i = 0; i + 1 < firsts.length; i++) {
    const block = blocks.subarray(i * FIELDS, (i + 1) * FIELDS);
    const isSound = firsts[i]! <= firsts[i + 1]! && block[START]! >= 0 &&
      block[START]! + block[LENGTH]! <= block[BODY]! &&
      block[LENGTH]! <= LARGEST_METADATA && block[BODY_LENGTH]! >= 0 &&
      block[BODY]! + block[BODY_LENGTH]! <= size;
    if (!isSound) return undefined;
  }
  return tables;
}
