import { JsonError, withSentinel } from "../../../codecs/json/scanner.ts";
import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { FormatError, RecordfsError } from "../../../errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { ChunkMeta } from "./chunk_meta.ts";
import { customMetaFile, jsonOfEntries } from "./custom_meta.ts";
import { jsonMetaFile, readJsonMeta } from "./json_meta.ts";
import { MetaBuilder, release, scratchBuffer } from "./meta_columns.ts";
import type { MetaFile } from "./meta_file.ts";
import { PickledMetaFile } from "./pickled_meta_file.ts";
import {
  type MetaWithText,
  type PickledLists,
  pickledLists,
  readPickledMeta,
} from "./read_pickled_meta.ts";
import type {
  GulpSerializer,
  SerializerChoice,
  VideoMeta,
} from "./serializer.ts";

/** Longest `.gmeta` that is read: what one array of bytes has room for, and its columns count. */
export const LONGEST_META = 2 ** 32 - 2;

/**
 * Reads a `.gmeta` file.
 *
 * @param serializer How it is kept; told by its first bytes where not given.
 * @throws {FormatError} If it is empty or damaged as a whole.
 */
export function* openMeta(
  path: string,
  serializer?: SerializerChoice,
  storage: Storage = LOCAL_DISK,
): Steps<ChunkMeta> {
  const file = yield* storage.open(path);
  let text: ByteSource = file;
  try {
    const bytes = yield* readWithSentinel(file, path);
    const kind = serializer ?? kindOf(bytes);
    if (kind === "json" && file.readAtSync !== undefined) {
      const meta = build(path, file.size, readJson(bytes, path), file);
      release(bytes);
      return meta;
    }
    // JSON that would have to be waited for stays in memory, too.
    const read = readAny(kind, bytes, path);
    text = new MemorySource(read.text, `${path} (meta_data)`, file.mtime);
    file.close();
    return build(path, file.size, read.builder, text);
  } catch (error) {
    text.close();
    throw error;
  }
}

/**
 * Reads a `.gmeta` file as it is now, to add to it.
 *
 * @param serializer How it is kept.
 * @throws {FormatError} If it is empty or damaged as a whole.
 */
export function* openMetaFile(
  path: string,
  serializer: SerializerChoice,
): Steps<{ meta: ChunkMeta; file: MetaFile }> {
  const source = yield* LOCAL_DISK.open(path);
  try {
    const bytes = yield* readWithSentinel(source, path);
    const lists = pickledLists();
    const read = readAny(serializer, bytes, path, lists);
    const text = new MemorySource(read.text, path);
    const file = serializer === "json"
      ? jsonMetaFile(read.text)
      : serializer === "pickle"
      ? new PickledMetaFile(path, bytes.slice(0, -1), lists)
      : customMetaFile(serializer, read.entries!);
    release(bytes);
    return { meta: build(path, source.size, read.builder, text), file };
  } finally {
    source.close();
  }
}

/** The meta of a chunk that is still to be written. */
export function emptyMeta(path: string): ChunkMeta {
  const text = new MemorySource(new Uint8Array(0), path);
  return build(path, 0, new MetaBuilder(0), text);
}

function build(
  path: string,
  size: number,
  builder: MetaBuilder,
  text: ByteSource,
): ChunkMeta {
  const { columns, ids } = builder.finish();
  return new ChunkMeta(path, size, columns, ids, text);
}

/** The file with a zero byte behind it, which the tokenizer stops at. */
function* readWithSentinel(
  file: ByteSource,
  path: string,
): Steps<Uint8Array> {
  const { size } = file;
  if (size === 0) {
    throw badMeta(path, `${path} is empty: its chunk was not finished`);
  }
  if (size > LONGEST_META) {
    throw badMeta(
      path,
      `${path} has ${size} bytes: ${LONGEST_META} can be read`,
    );
  }
  const bytes = new Uint8Array(scratchBuffer(size + 1), 0, size + 1);
  yield* fill(file, bytes.subarray(0, size), 0);
  return bytes;
}

/** A dict's pickle starts with one of the bytes 0x80 ( } c, which no JSON object does. */
function kindOf(bytes: Uint8Array): "json" | "pickle" {
  return [0x80, 0x28, 0x7d, 0x63].includes(bytes[0]!) ? "pickle" : "json";
}

/** What was read, and the entries of a user's own serializer. */
type AnyMeta = MetaWithText & { readonly entries?: [string, VideoMeta][] };

/** Reads what is kept in whatever way, with its meta_data in memory. */
function readAny(
  kind: SerializerChoice,
  withZero: Uint8Array,
  path: string,
  lists?: PickledLists,
): AnyMeta {
  const bytes = withZero.subarray(0, -1);
  if (kind === "pickle") return readPickle(bytes, path, lists);
  if (kind !== "json") return readOwn(kind, bytes, path);
  return { builder: readJson(withZero, path), text: bytes.slice() };
}

function readJson(text: Uint8Array, path: string): MetaBuilder {
  try {
    return readJsonMeta(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new FormatError(
      "bad-meta",
      `${path} is not JSON: ${error.message}; it is cut or damaged`,
      { path, offset: error.offset, cause: error },
    );
  }
}

function readPickle(
  bytes: Uint8Array,
  path: string,
  lists?: PickledLists,
): MetaWithText {
  try {
    return readPickledMeta(bytes, lists);
  } catch (error) {
    if (!(error instanceof PickleError)) throw error;
    const isHostile = error.code === "unsafe-pickle";
    throw new FormatError(
      isHostile ? "unsafe-pickle" : "bad-meta",
      isHostile
        ? `${path} is a hostile pickle; refuse to execute: a call that is not ` +
          `OrderedDict() or ImgInfo() (${error.message})`
        : `${path} is a damaged pickle: ${error.message} (byte ${error.offset})`,
      { path, offset: error.offset, cause: error },
    );
  }
}

/** The entries may be iterated again and again. */
function readOwn(
  serializer: GulpSerializer,
  bytes: Uint8Array,
  path: string,
): AnyMeta {
  try {
    const entries = Array.from(
      serializer.load(bytes),
      ([id, { frameInfo, metaData }]): [string, VideoMeta] => [id, {
        frameInfo: [...frameInfo],
        metaData: [...metaData],
      }],
    );
    const text = jsonOfEntries(entries);
    return { builder: readJsonMeta(withSentinel(text)), text, entries };
  } catch (error) {
    if (error instanceof RecordfsError) throw error;
    throw new FormatError(
      "bad-meta",
      `${path} cannot be read by the serializer given: ${
        (error as Error).message
      }`,
      { path, cause: error },
    );
  }
}

function badMeta(path: string, message: string): FormatError {
  return new FormatError("bad-meta", message, { path });
}
