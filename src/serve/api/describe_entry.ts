import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeView, ValueView } from "../../tree/node_view.ts";
import { describe, type ListedEntry, namesFrom } from "../entries.ts";
import { encodeUrlName } from "../paths.ts";
import type { Served } from "../served.ts";
import { isOfContainer, kindOf, viewOf } from "./kinds.ts";
import type { Entry } from "./messages.ts";

/** Maximum number of a datapoint's keys searched for an image. */
const MOST_KEYS = 64;

/** Directory as the prefix of its entries' paths. */
export interface Directory {
  /** With a trailing slash; empty for the root. */
  readonly path: string;
  /** The path, percent-encoded. */
  readonly url: string;
}

export function directoryOf(names: readonly string[]): Directory {
  return {
    path: names.map((name) => `${name}/`).join(""),
    url: names.map((name) => `${encodeUrlName(name)}/`).join(""),
  };
}

export function* toEntry(
  served: Served,
  { path, url }: Directory,
  listed: ListedEntry,
): Steps<Entry> {
  const { name, node, isDirectory, isLink, size, damage, mtime } = listed;
  const view = yield* viewOf(served, node);
  const own = url + encodeUrlName(name);
  const kind = yield* kindOf(served, node, name, isDirectory, view);
  return {
    ...{ path: path + name, name, kind, isDirectory, isLink, size, damage },
    ...{ url: own, ino: node, mtime },
    // An empty file is not an image, whatever its name says.
    thumbnailUrl: kind === "image" && size
      ? own
      : isDirectory
      ? yield* pictureIn(served, node, own, view)
      : null,
  };
}

export function* entryOf(
  served: Served,
  directory: Directory,
  name: string,
  node: number,
): Steps<Entry> {
  const listed = yield* describe(served.tree, { name, node, next: 0 });
  return yield* toEntry(served, directory, listed);
}

/** Returns the URL of the thumbnail image for a directory. */
function* pictureIn(
  served: Served,
  node: number,
  url: string,
  view: NodeView | undefined,
): Steps<string | null> {
  if (view?.kind === "clip" && view.frames > 0) {
    const { entries: [first] } = yield* namesFrom(served.tree, node, 0, 1);
    return first === undefined ? null : `${url}/${encodeUrlName(first.name)}`;
  }
  if (view?.kind !== "datapoint") return null;
  try {
    const values = yield* valuesIn(served, node, MOST_KEYS);
    for (const { entry, view, above } of values) {
      const { name, node: value, isDirectory } = entry;
      if (view === undefined || isDirectory || !entry.size) continue;
      const kind = yield* kindOf(served, value, name, false, view);
      if (kind === "image") return `${url}/${above.url}${encodeUrlName(name)}`;
    }
    return null;
  } catch (error) {
    if (isOfContainer(error)) return null; // opening the directory reports the error
    throw error;
  }
}

/** Value or list of values of a datapoint. */
export interface DatapointValue {
  readonly entry: ListedEntry;
  readonly view: ValueView | undefined;
  /** Directories between the datapoint and the value. */
  readonly above: Directory;
}

/** Returns the values of a datapoint, including those in nested directories. */
export function* valuesIn(
  served: Served,
  node: number,
  most: number,
): Steps<DatapointValue[]> {
  const { tree } = served;
  const values: DatapointValue[] = [];
  const looked = [{ node, above: { path: "", url: "" } as Directory }];
  for (let at = 0; at < looked.length && values.length < most; at++) {
    const { node, above } = looked[at]!;
    const left = most - values.length;
    const { entries } = yield* namesFrom(tree, node, 0, left);
    for (const named of entries) {
      const entry = yield* describe(tree, named);
      const view = yield* viewOf(served, entry.node);
      const { path, url } = above;
      const name = `${entry.name}/`;
      if (entry.isDirectory && view === undefined) {
        const below = {
          path: path + name,
          url: url + encodeUrlName(entry.name) + "/",
        };
        looked.push({ node: entry.node, above: below });
        continue;
      }
      const value = view?.kind === "value" ? view : undefined;
      values.push({ entry, view: value, above });
    }
  }
  return values;
}
