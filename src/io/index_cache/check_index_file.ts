import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { originOf } from "../storage/made_source.ts";
import { openAdjacent } from "../storage/open_adjacent.ts";
import { openedAt } from "../storage/open_file.ts";
import { indexPath } from "./adjacent_index.ts";
import {
  type IndexFileHead,
  readIndexFile,
  readSection,
  sectionOf,
  tagOf,
} from "./index_file.ts";
import type { CachedTables, Column } from "./tables_format.ts";

/** Receives what is found in an index file. */
interface IndexFindings {
  damage(error: FormatError): void;
  warn(message: string): void;
}

/** Columns of an index that was made without an index file. */
export interface MadeColumns {
  readonly kind: string;
  readonly columns: CachedTables["columns"];
}

/**
 * Checks the index file next to a file, if there is one: reports it as damage if it is damaged, or the index of another
 * file; and warns if it was made of another state, which is no reason to ignore it.
 */
export function* checkIndexFile(
  source: ByteSource,
  on: IndexFindings,
): Steps<void> {
  yield* withIndexFile(source, on, function* ({ head, origin, path, damage }) {
    if (head === undefined) {
      damage("it is damaged, or no index file");
    } else if (head.size !== origin.size) {
      damage(
        `it is the index of a file of ${head.size} bytes, and ${origin.name} has ${origin.size}`,
      );
    } else if (isOfOther(head, origin)) {
      on.warn(
        `${path} was made of another state of ${origin.name}, ` +
          "and is used where headers agree with it",
      );
    }
  });
}

/** Compares the tables in the index file next to a file, if there is one, with those that were made without it. */
export function* checkTables(
  source: ByteSource,
  on: IndexFindings,
  { kind, columns }: MadeColumns,
): Steps<void> {
  yield* withIndexFile(source, on, function* ({ head, file, damage }) {
    const section = head && sectionOf(head, kind, source);
    if (section === undefined) return;
    const tables = yield* readSection(file, section);
    if (tables === undefined) damage("it is damaged");
    else if (!areSame(tables.columns, columns)) {
      damage(`it differs from what ${source.name} has`);
    }
  });
}

interface OpenIndexFile {
  readonly path: string;
  readonly file: ByteSource;
  /** `undefined` if it is damaged. */
  readonly head: IndexFileHead | undefined;
  /** File that it is the index of. */
  readonly origin: ByteSource;
  damage(why: string): void;
}

function* withIndexFile(
  source: ByteSource,
  on: IndexFindings,
  use: (index: OpenIndexFile) => Steps<void>,
): Steps<void> {
  const origin = originOf(source);
  const place = openedAt(origin);
  if (place === undefined) return;
  const path = indexPath(place.path);
  const file = yield* openAdjacent(place.storage, path);
  if (file === undefined) return;
  const damage = (why: string) => {
    const message =
      `Cannot use ${path}: ${why}. Make it again with \`recordfs index\`, or delete it`;
    on.damage(new FormatError("bad-index", message, { path }));
  };
  try {
    const head = yield* readIndexFile(file);
    yield* use({ path, file, head, origin, damage });
  } finally {
    file.close();
  }
}

/** Whether a file has another tag or, without tags, another time than an index was made of. */
function isOfOther({ mtime, tag }: IndexFileHead, origin: ByteSource): boolean {
  const now = tagOf(origin);
  return tag === undefined || now === undefined
    ? mtime !== origin.mtime
    : tag !== now;
}

function areSame(
  found: CachedTables["columns"],
  made: CachedTables["columns"],
): boolean {
  const names = Object.keys(made);
  return Object.keys(found).length === names.length &&
    names.every((name) => {
      const [one, other] = [found[name], made[name]!];
      return one?.length === other.length && isSameColumn(one, other);
    });
}

/** Whether columns of one length have the same numbers; a time that is missing is NaN. */
function isSameColumn(one: Column, other: Column): boolean {
  for (let i = 0; i < one.length; i++) {
    if (!Object.is(one[i], other[i])) return false;
  }
  return true;
}
