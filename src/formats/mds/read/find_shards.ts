import { FormatError, RecordfsError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readFile } from "../../../io/read/read_file.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  LARGEST_SHARD,
  tableSize,
  WORD,
} from "../../../tree/field_shards/layout.ts";
import type {
  FoundShards,
  ShardIndex,
} from "../../../tree/field_shards/shard_index.ts";
import { compressionOf, INDEX, isShard } from "../layout.ts";
import { parseConfig, parseIndex } from "./index_file.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/** Largest index in bytes, for some 500,000 shards. */
const LARGEST_INDEX = 256 << 20;
const LARGEST_CONFIG = 16 << 20;

/**
 * Finds the shards of a location: a directory with an index, the index, or one shard, which is read by its own
 * configuration.
 *
 * @throws {FormatError} If there is no index, or it is damaged.
 */
export function* findShards(
  location: string,
  storage: Storage,
): Steps<FoundShards> {
  const names = yield* storage.list(location);
  if (names === undefined) {
    const name = location.slice(location.lastIndexOf("/") + 1);
    if (compressionOf(name) !== undefined) throw compressedAlone(location);
    const directory = location.includes("/")
      ? location.slice(0, location.length - name.length - 1) || "/"
      : ".";
    if (/\.json$/.test(name)) {
      const index = yield* readIndex(location, storage);
      return { index, directory, path: location, isAlone: false };
    }
    const index = yield* readAlone(location, name, storage);
    return { index, directory, path: location, isAlone: true };
  }
  if (!names.includes(INDEX)) {
    const shard = names.find(isShard);
    throw new FormatError(
      "missing-index",
      shard === undefined
        ? `Cannot open ${location}: it has no ${INDEX}. Name the directory of ` +
          "one dataset, such as its split 'train'"
        : `Cannot open ${location}: it has shards, such as ${shard}, and no ` +
          `${INDEX}, which says how many there are. Download that, or name a ` +
          "shard that is not compressed to read it alone",
      { path: location },
    );
  }
  const path = pathIn(location, INDEX);
  const index = yield* readIndex(path, storage);
  return { index, directory: location, path, isAlone: false };
}

function* readIndex(path: string, storage: Storage): Steps<ShardIndex> {
  return parseIndex(yield* readFile(path, storage, LARGEST_INDEX), path);
}

function* readAlone(
  path: string,
  basename: string,
  storage: Storage,
): Steps<ShardIndex> {
  const source = yield* openFile(storage, path);
  try {
    const { samples, bytes } = yield* readConfig(source);
    const table = yield* readPart(source, 0, tableSize(samples));
    const end = new DataView(table.buffer).getUint32(
      WORD * (1 + samples),
      true,
    );
    // A truncated shard is shorter than its table says.
    const raw = { basename, bytes: Math.max(source.size, end), hashes: {} };
    return {
      sets: [parseConfig(bytes, path)],
      shards: [{
        raw,
        packed: undefined,
        compression: undefined,
        samples,
        set: 0,
      }],
    };
  } finally {
    source.close();
  }
}

/**
 * Reads the number of samples of a shard, and the bytes of its configuration; throws a {@linkcode FormatError} if there
 * is none at its offset.
 */
export function* readConfig(
  source: ByteSource,
): Steps<{ readonly samples: number; readonly bytes: Uint8Array }> {
  const { name: path, size } = source;
  const bad = (why: string) =>
    new FormatError(
      "bad-structure",
      `Cannot read ${path}: ${why}: it is damaged, or not a shard of MDS. ` +
        "Download it again",
      { path },
    );
  if (size < tableSize(0)) throw bad(`it has only ${size} bytes`);
  if (size > LARGEST_SHARD) {
    throw bad(
      `it has ${size} bytes, more than offsets of 32 bits reach`,
    );
  }
  const head = yield* readPart(source, 0, 2 * WORD);
  const view = new DataView(head.buffer);
  const samples = view.getUint32(0, true);
  const at = tableSize(samples);
  const end = view.getUint32(WORD, true);
  if (at > end || end > size) {
    throw bad(`its ${samples} samples do not start after its table`);
  }
  if (end - at > LARGEST_CONFIG) {
    throw bad(`its configuration has ${end - at} bytes`);
  }
  return { samples, bytes: yield* readPart(source, at, end - at) };
}

function compressedAlone(path: string): RecordfsError {
  return new FormatError(
    "unsupported",
    `Cannot open ${path}: it is a compressed shard. Name the directory ` +
      `of its ${INDEX}, which says what is in it, or decompress it first ` +
      "to read it alone",
    { path },
  );
}
