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

/** Longest `.gmeta` that is read, in bytes: the limit of one byte array and of the columns. */
export const LONGEST_META = 2 ** 32 - 2;

/** Reads a `.gmeta`, whose first bytes show its form by default; throws FormatError if empty or damaged as a whole. */
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
    // JSON on asynchronous storage stays in memory, too.
    if (kind !== "json" || file.readAtSync === undefined) {
      const kept = kind === "json" ? read.text.slice() : read.text;
      text = new MemorySource(kept, `${path} (meta_data)`, file.mtime);
      file.close();
    }
    if (typeof kind === "string") release(bytes); // custom serializers may hold parts of it
    return new ChunkMeta(path, file.size, read.builder.finish(), text);
  } catch (error) {
    text.close();
    throw error;
  }
}

/** Reads the current `.gmeta`, to add to it; throws FormatError if it is empty or damaged as a whole. */
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

/** Returns the meta of a chunk that is not written yet. */
export function emptyMeta(path: string): ChunkMeta {
  const text = new MemorySource(new Uint8Array(0), path);
  return new ChunkMeta(path, 0, new MetaBuilder(0).finish(), text);
}

/** Reads the file and appends a zero byte, at which the tokenizer stops. */
function* readWithSentinel(
  file: ByteSource,
  path: string,
): Steps<Uint8Array> {
  const { size } = file;
  if (size === 0 || size > LONGEST_META) {
    const what = size === 0
      ? "it is empty: its chunk was not finished"
      : `it has ${size} bytes, more than the limit of ${LONGEST_META}`;
    throw new FormatError("bad-meta", `Cannot read ${path}: ${what}`, { path });
  }
  const bytes = new Uint8Array(scratchBuffer(size + 1), 0, size + 1);
  yield* fill(file, bytes.subarray(0, size), 0);
  return bytes;
}

/** The pickle of a dict starts with one of the bytes 0x80 ( } c; no JSON object does. */
function kindOf(bytes: Uint8Array): "json" | "pickle" {
  return [0x80, 0x28, 0x7d, 0x63].includes(bytes[0]!) ? "pickle" : "json";
}

/** Parsed meta, with the entries of a custom serializer. */
type AnyMeta = MetaWithText & { readonly entries?: [string, VideoMeta][] };

/** Reads a `.gmeta` of any kind; the text of JSON is the given bytes. */
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
    // Copied, since they are iterated several times.
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

/** Returns the error for an unreadable file; passes other errors through. */
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
    ? `the given serializer fails: ${message}`
    : cause instanceof JsonError
    ? `it is not JSON: ${message}: it is truncated or damaged`
    : isHostile
    ? "it is a hostile pickle; refuse to execute: a call that is not " +
      `OrderedDict() or ImgInfo() (${message})`
    : `it is a damaged pickle: ${message} (byte ${offset})`;
  return new FormatError(
    isHostile ? "unsafe-pickle" : "bad-meta",
    `Cannot read ${path}: ${what}`,
    { path, offset, cause },
  );
}

/** Formats the entries of a custom serializer as a JSON `.gmeta`. */
function jsonOfEntries(entries: MetaEntries): Uint8Array {
  const videos = Array.from(entries, ([id, { frameInfo, metaData }]) => {
    const items = metaData.map((item) => formatJson(item));
    return formatVideo(String(id), frameInfo, items);
  });
  return new TextEncoder().encode(`{${videos.join(", ")}}`);
}

/** Returns a `.gmeta` of a custom serializer, which receives the very values that it made in `entries`. */
export function customMetaFile(
  serializer: GulpSerializer,
  entries: MetaEntries,
): MetaFile {
  return {
    with(known, fresh) {
      /** Entries with the serializer's own ids, by ids as text. */
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
