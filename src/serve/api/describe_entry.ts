import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeView } from "../../tree/node_view.ts";
import { describe, type ListedEntry, namesFrom } from "../entries.ts";
import { encodeUrlName } from "../paths.ts";
import type { Served } from "../served.ts";
import { kindOf, viewOf } from "./kinds.ts";
import type { Entry } from "./messages.ts";

/** Keys of a datapoint among which a picture is looked for. */
const MOST_KEYS = 64;

/** A directory, as its entries' paths start with it. */
export interface Directory {
  /** Its path with a slash behind it; empty for the root. */
  readonly path: string;
  /** The same, percent-encoded. */
  readonly url: string;
}

/** A directory by its path in names. */
export function directoryOf(names: readonly string[]): Directory {
  return {
    path: names.map((name) => `${name}/`).join(""),
    url: names.map((name) => `${encodeUrlName(name)}/`).join(""),
  };
}

/** An entry as the API tells it. */
export function* toEntry(
  served: Served,
  { path, url }: Directory,
  listed: ListedEntry,
): Steps<Entry> {
  const { name, node, isDirectory, isLink, size, mtime } = listed;
  const view = yield* viewOf(served, node);
  const own = url + encodeUrlName(name);
  const kind = yield* kindOf(served, node, name, isDirectory, view);
  return {
    ...{ path: path + name, name, kind, isDirectory, isLink, size, mtime },
    ...{ url: own, ino: node },
    thumbnailUrl: kind === "image"
      ? own
      : isDirectory
      ? yield* pictureIn(served, node, own, view)
      : null,
  };
}

/** Describes an entry of a directory by its node. */
export function* entryOf(
  served: Served,
  directory: Directory,
  name: string,
  node: number,
): Steps<Entry> {
  const listed = yield* describe(served.tree, { name, node, next: 0 });
  return yield* toEntry(served, directory, listed);
}

/** The URL of the picture that stands for a directory. */
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
  const { entries } = yield* namesFrom(served.tree, node, 0, MOST_KEYS);
  for (const { name, node: value } of entries) {
    const own = yield* viewOf(served, value);
    if (own?.kind === "value" && own.holds === "image" && !own.isList) {
      return `${url}/${encodeUrlName(name)}`;
    }
  }
  return null;
}
