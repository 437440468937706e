import { RecordfsError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { Steps } from "../concurrency/steps.ts";
import { isUrl } from "../remote/remote_location.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { againIfChanged } from "../storage/changed_file.ts";
import { originOf } from "../storage/made_source.ts";
import { openAdjacent } from "../storage/open_adjacent.ts";
import { openedAt } from "../storage/open_file.ts";
import { cacheOptionsOf, type IndexCacheOptions } from "./cache_location.ts";
import {
  INDEX_SUFFIX,
  readIndexFile,
  readSection,
  sectionOf,
} from "./index_file.ts";
import {
  type KeptIndex,
  marksOf,
  marksToCompare,
  paysOff,
} from "./kept_index.ts";
import type { CachedTables } from "./tables_format.ts";

/** Index of a source from an index file, with its tables. */
export interface AdjacentTables<Index> {
  readonly index: Index;
  readonly tables: CachedTables;
}

/** Files without an index file, or whose index file was refused. */
const without = new WeakSet<ByteSource>();

/** Returns the path of the index file next to a file. The query of a URL stays at its end. */
export function indexPath(path: string): string {
  return isUrl(path)
    ? path.replace(/(?=(\?[^/]*)?$)/, INDEX_SUFFIX)
    : path + INDEX_SUFFIX;
}

/**
 * Returns the index of a source from the index file next to it, if there is one and making the index takes long. What is
 * not the index of that source is ignored, with a warning: its size must be the same, and the hashes of the first header,
 * the last, and some in between. The format compares the others when it reads by them.
 */
export function adjacentTables<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
): Steps<AdjacentTables<Index> | undefined> {
  // Others may replace the index file at the same time.
  return againIfChanged(() => tablesNextTo(source, options, index));
}

function* tablesNextTo<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
): Steps<AdjacentTables<Index> | undefined> {
  const origin = originOf(source);
  const place = openedAt(origin);
  if (
    place === undefined || index.headerAt === undefined ||
    !paysOff(source, index)
  ) return undefined;
  const path = indexPath(place.path);
  const refuse = (why: string): undefined => {
    without.add(origin);
    const { onWarning = warnOnConsole } =
      cacheOptionsOf(origin, options.remote) ?? {};
    const warn = options.onWarning ?? onWarning;
    warn(
      `${path} is ignored: ${why}. Make it again with \`recordfs index\`, or delete it`,
    );
  };
  if (without.has(origin)) return undefined;
  const file = yield* openAdjacent(place.storage, path);
  try {
    if (file === undefined) return void without.add(origin);
    const head = yield* readIndexFile(file);
    if (head === undefined) return refuse("it is damaged, or no index file");
    if (head.size !== origin.size) {
      return refuse(
        `it is the index of a file of ${head.size} bytes, and ${origin.name} has ${origin.size}`,
      );
    }
    const section = sectionOf(head, index.kind, source);
    if (section === undefined) return undefined;
    const tables = yield* readSection(file, section);
    if (tables === undefined) return refuse("it is damaged");
    const taken = take(index, tables);
    if (taken === undefined) {
      return refuse(`it does not fit ${source.name}`);
    }
    const which = marksToCompare(source);
    const marks = yield* marksOf(source, index, taken, which);
    if (which.some((mark, i) => section.marks[mark] !== marks[i])) {
      return refuse(`${source.name} has other content than it was made from`);
    }
    return { index: taken, tables };
  } catch (error) {
    const isOwn = error instanceof RecordfsError &&
      !["changed", "must-wait"].includes(error.code);
    if (!isOwn) throw error;
    return refuse(error.message);
  } finally {
    file?.close();
  }
}

/** Returns the index of tables that anybody may have made. */
function take<Index>(
  index: KeptIndex<Index>,
  tables: CachedTables,
): Index | undefined {
  try {
    return index.take(tables);
  } catch {
    return undefined; // columns are missing, or of other types
  }
}
