import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import {
  CONTINUATION,
  FEATHER_1,
  isNamedSo,
  Kind,
  MAGIC,
  PREFIX_SIZE,
  SPLITS_FILE,
  SUFFIX,
} from "./layout.ts";

/** Bytes of a stream that show that its first message is a schema. */
const ENOUGH = 256;

/** Arrow IPC: rows of tables, in files, streams and shards. */
export const arrow: FormatDescriptor = {
  name: "arrow",
  description: "Arrow IPC and Feather: rows of tables, as datasets saves them",
  suffixes: [".arrow", ".arrows", ".feather", ".ipc"],
  nestedSuffixes: [".arrow"],
  detect,
  evidence: (names) => `files of Arrow (${names.find(isEvident)})`,
  isPattern: (path) => SUFFIX.test(path) && SHARD_PATTERN.test(path),
  countSamples: ({ facts }) => ({ unit: "samples", length: facts!["rows"]! }),
  load: async () => (await import("./format.ts")).arrow,
};

function isEvident(name: string): boolean {
  return isNamedSo(name) || name === SPLITS_FILE;
}

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isEvident);
  // A damaged file of that name gets this format's error message.
  if (isNamedSo(path.slice(path.lastIndexOf("/") + 1))) return true;
  if (size < PREFIX_SIZE) return false;
  const head = yield* read(0, Math.min(size, ENOUGH));
  const word = String.fromCharCode(...head.subarray(0, MAGIC.length));
  if (word === MAGIC || word.startsWith(FEATHER_1)) return true;
  return isSchema(viewOf(head));
}

/** Whether a stream begins with the message of a schema, by its kind. */
function isSchema(view: DataView): boolean {
  try {
    if (view.getUint32(0, true) !== CONTINUATION) return false;
    const table = PREFIX_SIZE + view.getUint32(PREFIX_SIZE, true);
    const vtable = table - view.getInt32(table, true);
    const kind = view.getUint16(vtable + 6, true);
    return view.getUint8(table + kind) === Kind.SCHEMA;
  } catch {
    return false; // offsets that lead out of it
  }
}
