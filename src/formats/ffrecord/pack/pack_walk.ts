import type { Directory, EntryStat } from "../../../io/dirfd/directory.ts";
import { DirectoryChain } from "../../../io/dirfd/directory_chain.ts";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import { isTemporary } from "../../../io/write/temporaries.ts";
import { encodeName, sortNames } from "../../../base/names.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import type { PackOptions } from "./pack_folder.ts";
import { type ListingMark, PackListing } from "./pack_listing.ts";
import {
  namingFolder,
  type PackProblem,
  problem,
  refusal,
} from "./pack_problem.ts";

interface WalkOptions
  extends Pick<PackOptions, "emptyDirectories" | "filter" | "signal"> {
  readonly isOutput: (directory: Directory, name: string) => boolean;
  /** Called with entries that cannot be packed, which are skipped. */
  readonly onProblem: (problem: PackProblem) => void;
  /** Called every few milliseconds with the listing so far. */
  readonly onListed: (listing: PackListing) => void;
}

const AT_ONCE = 64;

interface Frame {
  /** In packing order. */
  readonly names: readonly string[];
  next: number;
  /** Path of the folder with a trailing slash; empty for the root. */
  readonly prefix: string;
  readonly identity: string;
  readonly mark: ListingMark | undefined;
}

/** Lists the files and directories to pack of a folder, in the order of Python's `pack_folder`. Follows symbolic links. */
export async function walkFolder(
  root: Directory,
  options: WalkOptions,
): Promise<PackListing> {
  const walk = new FolderWalk(root, options);
  try {
    namingFolder(root.path, () => walk.start());
    while (walk.step()) {
      if (!shouldYield()) continue;
      options.onListed(walk.listing);
      await yieldToEventLoop();
      options.signal?.throwIfAborted();
    }
    return walk.listing;
  } finally {
    walk.chain.leaveTo(0);
  }
}

class FolderWalk {
  readonly listing = new PackListing();
  readonly chain: DirectoryChain;
  readonly #options: WalkOptions;
  /** Folders from the root to the current one; a list instead of recursion, for any depth. */
  readonly #frames: Frame[] = [];
  readonly #entered = new Set<string>();

  constructor(root: Directory, options: WalkOptions) {
    this.#options = options;
    this.chain = new DirectoryChain(root, "follow");
  }

  start(): void {
    this.#push(this.chain.last, "", undefined);
  }

  /** Processes the next few entries; returns `false` at the end. */
  step(): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return false;
    const { names, next, prefix } = frame;
    const stats = this.chain.last.statSeveral(names, next, AT_ONCE);
    // At least one, even if it could not be part of a batch.
    frame.next = Math.min(names.length, next + Math.max(1, stats.length));
    if (next === names.length) this.#leave(frame);
    for (let i = next; i < frame.next; i++) {
      const name = names[i]!;
      this.#look(prefix + name, name, stats[i - next]);
    }
    return true;
  }

  #look(path: string, name: string, known: EntryStat | undefined): void {
    const { filter, isOutput, onProblem } = this.#options;
    const directory = this.chain.last;
    if (isOutput(directory, name)) return onProblem(problem("output", path));
    if (isTemporary(name)) return onProblem(problem("temporary", path));
    let stat: EntryStat | PackProblem;
    try {
      stat = known ?? directory.stat(name, "follow") ??
        missing(directory, name, path);
    } catch (error) {
      stat = refusal(error, path);
    }
    const isDirectory = "kind" in stat && stat.kind === "directory";
    const depth = this.#frames.length;
    if (filter?.({ path, name, depth, isDirectory }) === false) return;
    if (!("kind" in stat)) onProblem(stat);
    else if (isTooLong(name)) {
      onProblem(problem("name-too-long", path));
    } else if (isDirectory) this.#enter(path, name);
    else if (stat.kind !== "file") onProblem(problem("special-file", path));
    else if (!stat.isOwnersToRead && !directory.mayRead(name)) {
      onProblem(problem("EACCES", path));
    } else this.listing.addFile(name, stat.size, stat.mtimeMs);
  }

  #enter(path: string, name: string): void {
    const { depth } = this.chain;
    try {
      const directory = this.chain.enter(name);
      if (this.#entered.has(directory.identity)) {
        this.#options.onProblem(problem("cycle", path));
      } else {
        const mark = this.listing.mark();
        // Not derived from `path`, which a filter may have flattened in memory.
        const { prefix } = this.#frames.at(-1)!;
        this.#push(directory, `${prefix}${name}/`, mark);
        this.listing.startFolder(name);
        return;
      }
    } catch (error) {
      this.#options.onProblem(refusal(error, path));
    }
    this.chain.leaveTo(depth);
  }

  /** Lists a directory, and adds it only if that succeeds. */
  #push(
    directory: Directory,
    prefix: string,
    mark: ListingMark | undefined,
  ): void {
    const { names, unreachable } = directory.list();
    const { identity } = directory;
    for (const name of unreachable) {
      this.#options.onProblem(problem("name-needs-ffi", prefix + name));
    }
    const sorted = sortNames(names);
    this.#frames.push({ names: sorted, next: 0, prefix, identity, mark });
    this.#entered.add(identity);
  }

  #leave({ identity, mark }: Frame): void {
    this.#frames.pop();
    this.#entered.delete(identity);
    if (mark === undefined) return; // the root
    this.chain.leaveTo(this.chain.depth - 1);
    const { emptyDirectories = true } = this.#options;
    if (emptyDirectories || !this.listing.takeBackEmptyFolder(mark)) {
      this.listing.endFolder();
    }
  }
}

function missing(
  directory: Directory,
  name: string,
  path: string,
): PackProblem {
  const isLink = directory.stat(name, "keep") !== undefined;
  return problem(isLink ? "broken-link" : "vanished", path);
}

function isTooLong(name: string): boolean {
  return name.length * 3 > LONGEST_NAME && // a unit is three bytes at most
    encodeName(name).length > LONGEST_NAME;
}
