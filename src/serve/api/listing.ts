import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import type { NodeId } from "../../tree/tree.ts";
import { describe, namesFrom } from "../entries.ts";
import { decodePath } from "../paths.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { type Directory, directoryOf, toEntry } from "./describe_entry.ts";
import type { Entry, ListMessage } from "./messages.ts";
import type { Positions } from "./positions.ts";
import type { Query } from "./query.ts";
import type { Samples } from "./samples.ts";
import { Turns } from "./turns.ts";

/** Default and maximum number of entries of a page. */
const USUAL = 200;
const MOST = 10_000;
/** Maximum characters of a page's paths: with long paths, a page has fewer entries. */
const MOST_CHARACTERS = 1 << 19;

export interface FoundDirectory extends Directory {
  readonly node: NodeId;
}

/** Finds the directory that a request names. Throws `ServeError` if there is none. */
export function* directoryIn(
  served: Served,
  query: Query,
): Steps<FoundDirectory> {
  const node = yield* served.get(query.path);
  if (!(yield* served.isDirectory(node))) {
    throw new ServeError(
      "not-directory",
      "Cannot list this: it is a file, not a directory",
    );
  }
  return { node, ...directoryOf(namesOf(query.path)) };
}

export function namesOf(path: string): string[] {
  return decodePath(path).map((name) => decodeName(name));
}

/** `api/list`: a page of a directory, from its start, a cursor or an index. */
export function* list(
  served: Served,
  positions: Positions,
  samples: Samples,
  query: Query,
): Steps<ListMessage> {
  const directory = yield* directoryIn(served, query);
  const start = startOf(query);
  const limit = query.number("limit", MOST) ?? USUAL;
  const { tree } = served;
  const page = yield* namesFrom(tree, directory.node, start, limit);
  const entries: Entry[] = [];
  const turns = new Turns();
  let { next } = page;
  let characters = 0;
  for (const named of page.entries) {
    yield* turns.step();
    const listed = yield* describe(tree, named);
    const entry = yield* toEntry(served, directory, listed);
    entries.push(entry);
    characters += entry.path.length;
    if (characters > MOST_CHARACTERS && entries.length < page.entries.length) {
      next = named.next;
      break;
    }
  }
  return {
    path: directory.path.slice(0, -1),
    entries,
    next: next === undefined ? null : String(next),
    total: yield* positions.count(directory.node),
    samples: (yield* samples.within(directory.node))?.length ?? null,
    start,
  };
}

/** Returns the index at which a page starts. Cursors are indices. */
export function startOf(query: Query): number {
  return query.number("cursor") ?? query.number("at") ?? 0;
}
