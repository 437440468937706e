import type { Steps } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { pathIn } from "../../io/storage/stored_location.ts";
import { tableSize } from "../../tree/field_shards/layout.ts";
import {
  type Column,
  columnOf,
  type FoundShards,
  type IndexFacts,
  IndexParts,
  isCount,
  type ShardFacts,
  shown,
} from "../../tree/field_shards/shard_index.ts";
import { encodingOf } from "./encodings.ts";
import { INDEX, LARGEST_INDEX } from "./layout.ts";

/** Most fields of a sample, deepest nesting of them, and longest names in UTF-16 units. */
const MOST_FIELDS = 1 << 16;
const DEEPEST = 100;
const LONGEST_NAME = 1024;
/** Name of the only value of a sample. */
const VALUE = "value";

/** What a configuration may say that changes the chunks, in words. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  encryption: "its chunks are encrypted",
  ["compression_level"]: "its samples are compressed inside of their chunks",
  ["ipc_compression"]: "its chunks are tables of Arrow",
};

/**
 * Finds the chunks of a location: a directory with an index, or the index.
 *
 * @throws {FormatError} If there is no index, or it is damaged, hostile, or of chunks that are not supported.
 */
export function* findChunks(
  location: string,
  storage: Storage,
): Steps<FoundShards> {
  const names = yield* storage.list(location);
  const path = names === undefined ? location : pathIn(location, INDEX);
  const parts = new IndexParts(path);
  if (names !== undefined && !names.includes(INDEX)) {
    throw parts.missing(`it has chunks, and no ${INDEX}. Download that`);
  }
  const json = parts.json(yield* readFile(path, storage, LARGEST_INDEX));
  const { chunks, config } = parts.object(json, "it");
  const facts = parts.object(config, "its 'config'", "missing");
  for (const [key, why] of Object.entries(UNSUPPORTED)) {
    const actual = facts[key] ?? null;
    if (actual !== null) {
      throw parts.unsupported(
        `${why}: ${key} is ${
          shown(actual)
        }. Write the dataset again without it`,
        { actual },
      );
    }
  }
  if (!Array.isArray(chunks)) throw parts.bad("it has no list of chunks");
  const all = chunks.map((chunk, i) => parts.object(chunk, `chunk ${i}`));
  const columns = columnsOf(parts, facts, all);
  const shards = all.map((chunk, i) =>
    chunkOf(parts, chunk, `chunk ${i}`, facts)
  );
  const directory = path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".";
  const index = { sets: [columns], shards };
  return { index, directory, path, isAlone: false };
}

function chunkOf(
  parts: IndexParts,
  { filename, chunk_bytes: size, chunk_size: count }: IndexFacts,
  where: string,
  config: IndexFacts,
): ShardFacts {
  const { compression: how = null } = config;
  const file = parts.basename(filename, where);
  if (!isCount(size)) throw parts.bad(`${where} has no number of bytes`);
  if (how !== null && typeof how !== "string") {
    throw parts.bad(`its compression is ${shown(how)}`);
  }
  // Before July 2024, and without this key, the table was not counted.
  const uncounted = "encryption" in config || !isCount(count)
    ? 0
    : tableSize(count);
  const bytes = size + uncounted;
  const samples = parts.samples(count, bytes, where);
  const bare = how === null ? file : file.replace(`.${how}`, "");
  const raw = { basename: bare, bytes, hashes: {} };
  if (how === null) {
    return { raw, packed: undefined, compression: undefined, samples, set: 0 };
  }
  const packed = { basename: file, bytes: undefined, hashes: {} };
  const [compression] = how.split(":");
  return { raw, packed, compression, samples, set: 0 };
}

function columnsOf(
  parts: IndexParts,
  { data_format: words, data_spec: spec, item_loader: loader }: IndexFacts,
  chunks: readonly IndexFacts[],
): Column[] {
  const known = [undefined, "PyTreeLoader", "TokensLoader"];
  if (!known.includes(loader as string)) {
    const why = `its chunks are for the unsupported ${shown(loader)}`;
    throw parts.unsupported(
      `${why}: only PyTreeLoader and TokensLoader are read`,
      { actual: loader },
    );
  }
  if (!Array.isArray(words) || words.length > MOST_FIELDS) {
    throw parts.bad("it has no list of data formats");
  }
  // Of tokens, whose numbers chunks say, samples have no sizes of values.
  const isRest = words.length === 1 && (loader === "TokensLoader" ||
    chunks.some(({ dim }) => (dim ?? null) !== null));
  const names: string[] = [];
  try {
    if (typeof spec === "string") addNames(JSON.parse(spec)[1], "", 0, names);
    else words.forEach((_, i) => names.push(words.length > 1 ? `${i}` : VALUE));
    if (names.length !== words.length) throw new RangeError("other fields");
    if (new Set(names).size < names.length) throw new RangeError("twice");
  } catch (cause) {
    const why = `its data_spec does not name each of ${words.length} fields`;
    throw parts.bad(why, cause);
  }
  return words.map((word, i) => {
    const encoding = typeof word === "string"
      ? encodingOf(word, isRest)
      : undefined;
    if (encoding !== undefined) return columnOf(names[i]!, encoding);
    const why = `the field '${names[i]}' has the unknown type ${shown(word)}`;
    throw parts.unsupported(why, { actual: word });
  });
}

/** Node of a tree of fields, as PyTorch's pytree describes it; a leaf has no type. */
interface Spec {
  readonly type: string | null;
  readonly context: unknown;
  readonly "children_spec": readonly Spec[];
}

/** Adds the names of a tree's leaves: the keys or numbers on the way to them. Throws if they are more than can be. */
function addNames(
  { type, context, children_spec: children }: Spec,
  path: string,
  depth: number,
  names: string[],
): void {
  const isFar = depth > DEEPEST || path.length > LONGEST_NAME;
  if (isFar || names.length === MOST_FIELDS) throw new RangeError("too many");
  if (type === null) {
    names.push(path || VALUE);
    return;
  }
  const said = typeof context === "string" ? JSON.parse(context) : context;
  const keys = said?.dict_context ?? said;
  for (const [i, child] of children.entries()) {
    const key = `${Array.isArray(keys) ? keys[i] : i}`;
    addNames(child, path === "" ? key : `${path}.${key}`, depth + 1, names);
  }
}
