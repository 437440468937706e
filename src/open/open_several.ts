import { PathError, RecordfsError } from "../base/errors.ts";
import { inParallel } from "../io/concurrency/concurrency_limit.ts";
import { perform, type Steps } from "../io/concurrency/steps.ts";
import { decompressedName } from "../io/compressed/compressions.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import { encodeName, partsOf } from "../base/names.ts";
import type {
  Container,
  ContainerInfo,
  DeferredContainer,
} from "../tree/format.ts";
import { PrefixTree } from "../tree/trees/prefix_tree.ts";
import { nodeShare } from "../tree/trees/union_columns.ts";
import { UnionTree } from "../tree/trees/union_tree.ts";
import {
  areSeveral,
  type ContainerLocation,
  placeOf,
  type SeveralLocations,
} from "./location.ts";
import type { OpenContainerOptions } from "./open.ts";
import { openShown } from "./open_shown.ts";
import { findNode } from "../tree/vfs/paths.ts";
import { VirtualFs } from "../tree/vfs/virtual_fs.ts";

/** Several containers that can't be opened at the paths given. */
export class PlacementError extends RecordfsError {
  /** What is wrong. */
  declare readonly code:
    | "no-container"
    | "bad-path"
    | "same-path"
    | "inside-other";

  /** Creates an error about a container or a path, which the message names. */
  constructor(
    code: PlacementError["code"],
    message: string,
    path?: string,
  ) {
    super(code, message, { path });
  }
}

/** A container to open, and the components of its path. */
interface Placed {
  readonly location: string;
  readonly names: readonly string[];
  readonly options: OpenContainerOptions;
}

type Opened = Container & Partial<DeferredContainer>;

type OpenOne = (path: string, options: OpenContainerOptions) => Steps<Opened>;

/** Longest directory name in bytes: Linux's `NAME_MAX`. */
const LONGEST_NAME = 255;

export function* openAll(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions,
): Steps<VirtualFs> {
  const given = areSeveral(location) ? location : [{ location }];
  const { name, container } = yield* openSeveral(given, options, openShown);
  return new VirtualFs(name, container, options.checkData ?? true);
}

/**
 * Opens several containers as one, a single one, or a part of either.
 *
 * @throws {PlacementError} If two containers would have the same path, or one would be inside another.
 * @throws {PathError} If the part is not a directory.
 */
export function* openSeveral(
  given: SeveralLocations,
  options: OpenContainerOptions,
  open: OpenOne,
): Steps<{ name: string; container: Opened }> {
  const { prefix, ...others } = options;
  const all = yield* placeContainers(given, others);
  const name = all.map(({ location }) => location).join(", ");
  const { placed, rest } = narrow(all, prefix ?? "", name);
  const [first] = placed as [Placed];
  if (first.names.length > 0) {
    return { name, container: yield* joinAll(placed, open) };
  }
  const container = yield* openPart(first, open);
  return { name, container: yield* takePart(container, rest, name, prefix) };
}

/** Determines the paths of containers. Throws a {@linkcode PlacementError} if one is equal to or inside another. */
export function* placeContainers(
  given: SeveralLocations,
  options: OpenContainerOptions,
): Steps<readonly Placed[]> {
  if (given.length === 0) {
    throw new PlacementError(
      "no-container",
      "Cannot open containers: none was given",
    );
  }
  const placed: Placed[] = [];
  for (const one of given) {
    const place = typeof one === "string" || one instanceof URL
      ? { location: one }
      : one;
    const { path: location, options: own } = placeOf(place.location, {
      ...options,
      ...place.options,
    });
    const names = place.path !== undefined
      ? partsOf(place.path)
      : given.length === 1
      ? []
      : [yield* ownName(location, own)];
    for (const name of names) checkName(name, place.path ?? name, location);
    if (names.length === 0 && given.length > 1) {
      throw new PlacementError(
        "bad-path",
        `Cannot show ${location} in the root next to other containers. Give it a path`,
        location,
      );
    }
    placed.push({ location, names, options: own });
  }
  refuseOverlap(placed);
  return placed;
}

function checkName(name: string, path: string, location: string): void {
  const bytes = encodeName(name).length;
  const why = name === ".."
    ? "'..' is not allowed"
    : name.includes("\0")
    ? "a name contains NUL"
    : bytes > LONGEST_NAME
    ? `a name has ${bytes} bytes, more than ${LONGEST_NAME}`
    : undefined;
  if (why === undefined) return;
  throw new PlacementError(
    "bad-path",
    `Cannot show ${location} in '${path}': ${why}`,
    path,
  );
}

function* ownName(
  location: string,
  { storage = LOCAL_DISK }: OpenContainerOptions,
): Steps<string> {
  const last = /([^/]*)\/*$/.exec(location)![1]!;
  if (last === "" || last === "." || last === "..") {
    throw new PlacementError(
      "bad-path",
      `Cannot show ${location}: it has no name of its own. Give it a path`,
      location,
    );
  }
  const facts = yield* storage.stat(location);
  return facts?.isDirectory
    ? last
    : decompressedName(last).replace(/(?<=.)\.[^.]*$/, "");
}

function refuseOverlap(placed: readonly Placed[]): void {
  const taken = new Map<string, string>();
  for (const { location, names } of placed) {
    const path = names.join("/");
    const other = taken.get(path);
    if (other !== undefined) {
      throw new PlacementError(
        "same-path",
        `Cannot show both ${other} and ${location} in '${path}': a path belongs to one container. Give one of them another path`,
        path,
      );
    }
    taken.set(path, location);
  }
  for (const { location, names } of placed) {
    for (let above = 1; above < names.length; above++) {
      const path = names.slice(0, above).join("/");
      const other = taken.get(path);
      if (other === undefined) continue;
      throw new PlacementError(
        "inside-other",
        `Cannot show ${location} in '${
          names.join("/")
        }': that is inside ${other} in '${path}'. ` +
          "Give one of them another path",
        names.join("/"),
      );
    }
  }
}

/** Keeps containers below `prefix`, the new root. If it lies inside a container, `rest` is the path in that one. */
function narrow(
  placed: readonly Placed[],
  prefix: string,
  name: string,
): { placed: readonly Placed[]; rest: string } {
  const wanted = partsOf(prefix);
  const holder = placed.find(({ names }) => startsWith(wanted, names));
  if (holder !== undefined) {
    const rest = wanted.slice(holder.names.length).join("/");
    return { placed: [{ ...holder, names: [] }], rest };
  }
  const below = placed.filter(({ names }) => startsWith(names, wanted))
    .map((one) => ({ ...one, names: one.names.slice(wanted.length) }));
  if (below.length === 0) throw new PathError("not-found", prefix, name);
  return { placed: below, rest: "" };
}

function startsWith(
  path: readonly string[],
  start: readonly string[],
): boolean {
  return start.every((name, i) => path[i] === name);
}

/** Opens a container, or the part of it that its own options select. */
function* openPart(
  { location, options }: Placed,
  open: OpenOne,
): Steps<Opened> {
  const { prefix, ...others } = options;
  const container = yield* open(location, others);
  return yield* takePart(container, prefix ?? "", location);
}

/** Makes a directory of a container its root, after completing the container. Messages call the path `given`. */
function* takePart(
  container: Opened,
  path: string,
  name: string,
  given = path,
): Steps<Opened> {
  if (partsOf(path).length === 0) return container;
  const { tree } = container;
  try {
    yield* perform({
      sync() {},
      async: async () => await container.complete?.(),
    });
    const node = yield* findNode(tree, path);
    if (node === 0) throw new PathError("not-found", given, name);
    if (!tree.isDirectory(node)) {
      throw new PathError("not-directory", given, name);
    }
    return {
      tree: new PrefixTree(tree, node),
      get info() {
        return container.info;
      },
    };
  } catch (error) {
    tree.close();
    throw error;
  }
}

function* joinAll(
  placed: readonly Placed[],
  open: OpenOne,
): Steps<Opened> {
  const lastNode = nodeShare(placed.length);
  const opened: Opened[] = [];
  const openAt = function* (place: Placed, at: number): Steps<void> {
    const options = { ...place.options, lastNode };
    opened[at] = yield* openPart({ ...place, options }, open);
  };
  try {
    yield* inParallel(placed.map(openAt));
    const tree = UnionTree.of(placed.map(({ location, names }, at) => ({
      tree: opened[at]!.tree,
      path: names,
      name: location,
    })));
    return {
      tree,
      get info() {
        return joinInfo(placed, opened, tree.ownDirectories);
      },
      async complete() {
        for (const container of opened) await container.complete?.();
      },
    };
  } catch (error) {
    for (const container of opened) container?.tree.close();
    throw error;
  }
}

function joinNotes(
  infos: readonly ContainerInfo[],
): Pick<ContainerInfo, "facts" | "skipped" | "unreadable"> {
  const count = (of: "skipped" | "unreadable") =>
    infos.reduce((sum, { facts }) => sum + (facts?.[of] ?? 0), 0);
  const [skipped, unreadable] = [count("skipped"), count("unreadable")];
  if (skipped + unreadable === 0) return {};
  return {
    facts: {
      ...skipped > 0 ? { skipped } : {},
      ...unreadable > 0 ? { unreadable } : {},
    },
    ...skipped > 0
      ? { skipped: infos.flatMap(({ skipped = [] }) => skipped) }
      : {},
    ...unreadable > 0
      ? { unreadable: infos.flatMap(({ unreadable = [] }) => unreadable) }
      : {},
  };
}

function joinInfo(
  placed: readonly Placed[],
  opened: readonly Opened[],
  ownDirectories: number,
): ContainerInfo {
  const infos = opened.map(({ info }) => info);
  const formats = new Set(infos.map(({ format }) => format));
  const sum = (of: "files" | "directories" | "bytes") =>
    infos.reduce((sum, info) => sum + info[of], 0);
  return {
    format: [...formats].join(", "),
    kind: infos.length === 1 ? infos[0]!.kind : `${infos.length} containers`,
    files: sum("files"),
    directories: ownDirectories + sum("directories"),
    bytes: sum("bytes"),
    ...joinNotes(infos),
    parts: infos.flatMap(({ parts }) => parts),
    containers: placed.map(({ location, names }, at) => ({
      location,
      path: names.join("/"),
      info: infos[at]!,
    })),
  };
}
