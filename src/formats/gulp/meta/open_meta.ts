import { formatJson } from "../../../codecs/json/format.ts";
import { JsonError, withSentinel } from "../../../codecs/json/scanner.ts";
import { parseJson } from "../../../codecs/json/value.ts";
import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { ChunkMeta } from "./chunk_meta.ts";
import { formatVideo, jsonMetaFile, readJsonMeta } from "./json_meta.ts";
import { MetaBuilder, release, scratchBuffer } from "./meta_columns.ts";
import { frameInfoOf, type MetaFile } from "./meta_file.ts";
import { pickledMetaFile } from "./pickled_meta_file.ts";
import {
  type MetaWithText,
  PickledLists,
  readPickledMeta,
} from "./read_pickled_meta.ts";
import type {
  GulpSerializer,
  MetaEntries,
  SerializerChoice,
  VideoMeta,
} from "./serializer.ts";
import { openFile } from "../../../io/storage/open_file.ts";

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
  const file = yield* openFile(storage, path);
  let text: ByteSource = file;
  try {
    const bytes = yield* readWithSentinel(file, path);
    const kind = serializer ?? kindOf(bytes);
    const read = readAny(kind, bytes, path);
    // JSON that would have to be waited for stays in memory, too.
    if (kind !== "json" || file.readAtSync === undefined) {
      const kept = kind === "json" ? read.text.slice() : read.text;
      text = new MemorySource(kept, `${path} (meta_data)`, file.mtime);
      file.close();
    }
    if (typeof kind === "string") release(bytes); // others may keep parts of it
    return new ChunkMeta(path, file.size, read.builder.finish(), text);
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
    const lists = new PickledLists();
    const read = readAny(serializer, bytes, path, lists);
    const kept = bytes.slice(0, -1);
    const text = serializer === "json" ? kept : read.text;
    const file = serializer === "json"
      ? jsonMetaFile(kept)
      : serializer === "pickle"
      ? pickledMetaFile(path, kept, lists)
      : customMetaFile(serializer, read.entries!);
    release(bytes);
    const inMemory = new MemorySource(text, path);
    const found = read.builder.finish();
    const meta = new ChunkMeta(path, source.size, found, inMemory);
    return { meta, file };
  } finally {
    source.close();
  }
}

/** The meta of a chunk that is still to be written. */
export function emptyMeta(path: string): ChunkMeta {
  const text = new MemorySource(new Uint8Array(0), path);
  return new ChunkMeta(path, 0, new MetaBuilder(0).finish(), text);
}

/** The file with a zero byte behind it, which the tokenizer stops at. */
function* readWithSentinel(
  file: ByteSource,
  path: string,
): Steps<Uint8Array> {
  const { size } = file;
  if (size === 0 || size > LONGEST_META) {
    const what = size === 0
      ? "is empty: its chunk was not finished"
      : `has ${size} bytes: ${LONGEST_META} can be read`;
    throw new FormatError("bad-meta", `${path} ${what}`, { path });
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

/** Reads what is kept in whatever way; the text of JSON is the bytes that were given. */
function readAny(
  kind: SerializerChoice,
  withZero: Uint8Array,
  path: string,
  lists?: PickledLists,
): AnyMeta {
  const bytes = withZero.subarray(0, -1);
  try {
    if (kind === "json") {
      return { builder: readJsonMeta(withZero), text: bytes };
    }
    if (kind === "pickle") return readPickledMeta(bytes, lists);
    // They may be iterated again and again.
    const entries = Array.from(
      kind.load(bytes),
      ([id, { frameInfo, metaData }]): [string, VideoMeta] => [id, {
        frameInfo: [...frameInfo],
        metaData: [...metaData],
      }],
    );
    const text = jsonOfEntries(entries);
    return { builder: readJsonMeta(withSentinel(text)), text, entries };
  } catch (error) {
    throw unreadable(kind, path, error);
  }
}

/** The error about a file that cannot be read, or one that is about something else as it is. */
function unreadable(
  kind: SerializerChoice,
  path: string,
  cause: unknown,
): unknown {
  const isOwn = typeof kind === "object" && !(cause instanceof RecordfsError);
  const isKnown = cause instanceof JsonError || cause instanceof PickleError;
  if (!isOwn && !isKnown) return cause;
  const { message } = cause as Error;
  const offset = isOwn ? undefined : (cause as JsonError).offset;
  const isHostile = cause instanceof PickleError &&
    cause.code === "unsafe-pickle";
  const what = isOwn
    ? `cannot be read by the serializer given: ${message}`
    : cause instanceof JsonError
    ? `is not JSON: ${message}; it is cut or damaged`
    : isHostile
    ? "is a hostile pickle; refuse to execute: a call that is not " +
      `OrderedDict() or ImgInfo() (${message})`
    : `is a damaged pickle: ${message} (byte ${offset})`;
  return new FormatError(
    isHostile ? "unsafe-pickle" : "bad-meta",
    `${path} ${what}`,
    { path, offset, cause },
  );
}

/** What a user's own serializer read, as a `.gmeta` in JSON. */
function jsonOfEntries(entries: MetaEntries): Uint8Array {
  const videos = Array.from(entries, ([id, { frameInfo, metaData }]) => {
    const items = metaData.map((item) => formatJson(item));
    return formatVideo(String(id), frameInfo, items);
  });
  return new TextEncoder().encode(`{${videos.join(", ")}}`);
}

/**
 * A `.gmeta` of a user's own serializer, which gets again the very values it made.
 *
 * @param entries What the serializer loaded; it can be read again and again.
 */
export function customMetaFile(
  serializer: GulpSerializer,
  entries: MetaEntries,
): MetaFile {
  return {
    with(known, fresh) {
      /** By ids as texts, with the ids that the serializer has. */
      const videos = new Map<string, readonly [string, VideoMeta]>(
        Array.from(entries, ([id, meta]) => [String(id), [id, meta]]),
      );
      for (const [id, video] of [...known, ...fresh]) {
        const [ownId, before] = videos.get(id) ?? [id, undefined];
        videos.set(id, [ownId, {
          frameInfo: [...before?.frameInfo ?? [], ...frameInfoOf(video)],
          metaData: [
            ...before?.metaData ?? [],
            ...video.metaData.map((text) => parseJson(text)),
          ],
        }]);
      }
      return serializer.dump(videos.values());
    },
  };
}
