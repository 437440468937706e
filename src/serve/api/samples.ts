import { permutation } from "../../data/random/permutation.ts";
import { Random } from "../../data/random/random.ts";
import { RecordfsError } from "../../base/errors.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { PrefixTree } from "../../tree/trees/prefix_tree.ts";
import { SampleRuns } from "../../tree/sample_runs.ts";
import {
  type NodeId,
  ROOT,
  type SampleRun,
  type Tree,
} from "../../tree/tree.ts";
import { Walker } from "../../tree/vfs/walk.ts";
import { namesFrom } from "../entries.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import { directoryOf, entryOf } from "./describe_entry.ts";
import { viewOf } from "./kinds.ts";
import { directoryIn } from "./listing.ts";
import type {
  AtMessage,
  Entry,
  InfoMessage,
  RandomMessage,
} from "./messages.ts";
import type { Query } from "./query.ts";
import { Turns } from "./turns.ts";

/** Default and maximum number of random samples. */
const USUAL = 50;
const MOST = 1000;
/** Maximum number of directories whose samples are cached. */
const REMEMBERED = 8;
/** Trees with more files are walked only once their samples are requested. */
const MANY_FILES = 100_000;
/** Words for samples that are directories of values. */
const WORDS = ["datapoints", "rows", "lines", "records", "tensors", "values"];
/** Depth limit of a sample's path, which no tree exceeds. */
const DEEPEST = 1000;

/** Samples by index: those of the container's dataset, or files in walk order. */
export class Samples {
  readonly #served: Served;
  readonly #below = new Map<NodeId, Promise<SampleRuns>>();

  constructor(served: Served) {
    this.#served = served;
  }

  /** Returns the number of samples and their unit; `null` if they have no indices or have not been counted yet. */
  *count(): Steps<InfoMessage["samples"]> {
    if (!this.#areAtHand()) return null;
    try {
      const runs = yield* this.#of(ROOT);
      const first = runs.node(0);
      const view = first === 0 || !this.#areOfOneKind()
        ? undefined
        : yield* viewOf(this.#served, first);
      const unit = view?.kind === "clip"
        ? "videos"
        : view?.kind === "datapoint"
        ? this.#wordInFacts()
        : runs.columns.areDirectories === false && runs.most === 1
        ? "files"
        : "samples";
      return { unit, length: runs.length };
    } catch (error) {
      if (error instanceof RecordfsError) return null; // some samples are damaged
      throw error;
    }
  }

  *indexOf(node: NodeId): Steps<number> {
    if (!this.#areAtHand()) return -1;
    try {
      return (yield* this.#of(ROOT)).indexOf(node);
    } catch (error) {
      if (error instanceof RecordfsError) return -1;
      throw error;
    }
  }

  /** Returns the samples among a directory's entries; `undefined` if none, deeper, or of several entries each. */
  *within(directory: NodeId): Steps<SampleRuns | undefined> {
    const { tree } = this.#served;
    if (tree.samples === undefined) return undefined;
    try {
      const runs = yield* this.#of(directory);
      const ends = [runs.node(0), runs.node(runs.length - 1)];
      for (const node of ends) {
        const own = directory !== ROOT && node === ROOT ? directory : node;
        if (node === 0 || own === directory) return undefined;
        const parent = yield* whenLoaded(() => tree.parent(own));
        if (parent !== directory) return undefined;
      }
      return runs.most === 1 ? runs : undefined;
    } catch (error) {
      if (error instanceof RecordfsError) return undefined; // some samples are damaged
      throw error;
    }
  }

  /** `api/at`: the sample at an index. */
  *at(query: Query): Steps<AtMessage> {
    const index = query.number("index");
    if (index === undefined) {
      throw new ServeError("bad-request", "index must be a sample index");
    }
    const runs = yield* this.#of(ROOT);
    const node = runs.node(index);
    if (node === 0) {
      throw new ServeError(
        "not-found",
        `Cannot find sample ${index}: there are ${runs.length}, and damaged ones are skipped`,
      );
    }
    return yield* this.#located(ROOT, node);
  }

  /** `api/random`: distinct random samples below a directory, determined by a seed. */
  *random(query: Query): Steps<RandomMessage> {
    const { node: directory } = yield* directoryIn(this.#served, query);
    const count = query.number("count", MOST) ?? USUAL;
    const seed = query.number("seed") ?? 0;
    const runs = yield* this.#of(directory);
    const order = permutation(runs.length, new Random(seed));
    const entries: Entry[] = [];
    const turns = new Turns();
    for (let i = 0; i < runs.length && entries.length < count; i++) {
      yield* turns.step();
      const node = runs.node(order.at(i));
      if (node === 0) continue; // skipped because it is damaged
      entries.push((yield* this.#located(directory, node)).entry);
    }
    return { seed, entries, total: runs.length };
  }

  /** Returns the container's own word for its samples, as `info` prints it. */
  #wordInFacts(): string {
    const { containers: [first] = [], ...info } = this.#served.fs.info;
    const { facts = {} } = first?.info ?? info;
    return WORDS.find((word) => Object.hasOwn(facts, word)) ?? "samples";
  }

  /** Whether all containers have the same format and kind, so that the first sample's unit applies to all. */
  #areOfOneKind(): boolean {
    const { containers = [] } = this.#served.fs.info;
    const [first] = containers;
    return containers.every(({ info: { format, kind } }) =>
      format === first!.info.format && kind === first!.info.kind
    );
  }

  /** Whether samples can be indexed without walking many files. */
  #areAtHand(): boolean {
    const { tree, fs } = this.#served;
    return tree.samples !== undefined || fs.info.files <= MANY_FILES ||
      this.#below.has(ROOT);
  }

  *#of(directory: NodeId): Steps<SampleRuns> {
    let runs = this.#below.get(directory);
    if (runs === undefined) {
      runs = samplesBelow(this.#served.tree, directory);
      const [oldest] = this.#below.keys();
      if (this.#below.size === REMEMBERED) this.#below.delete(oldest!);
      this.#below.set(directory, runs);
      runs.catch(() => this.#below.delete(directory));
    }
    const found = runs;
    return yield* waitFor(() => found);
  }

  *#located(directory: NodeId, node: NodeId): Steps<AtMessage> {
    const own = directory !== ROOT && node === ROOT ? directory : node;
    const names = yield* pathOf(this.#served.tree, own);
    const parent = directoryOf(names.slice(0, -1));
    return {
      entry: yield* entryOf(this.#served, parent, names.at(-1) ?? "", own),
      parent: parent.path.slice(0, -1),
      parentUrl: parent.url.slice(0, -1),
    };
  }
}

/** Returns the samples below a directory: the tree's own, else the files. */
async function samplesBelow(
  tree: Tree,
  directory: NodeId,
): Promise<SampleRuns> {
  const below = directory === ROOT ? tree : new PrefixTree(tree, directory);
  if (tree.samples !== undefined) {
    return await runAsync(whenLoaded(() => SampleRuns.of(below.samples!())));
  }
  const turns = new Turns();
  const walker = new Walker(tree, directory, "", Infinity);
  const runs: { first: NodeId; stride: 1; count: number }[] = [];
  for (;;) {
    if (turns.areDue) await turns.give();
    const page = await runAsync(walker.nextPage());
    if (page.length === 0) break;
    for (const { node, isDirectory } of page) {
      const run = runs.at(-1);
      if (isDirectory) continue;
      if (run !== undefined && node === run.first + run.count) run.count++;
      else runs.push({ first: node, stride: 1, count: 1 });
    }
  }
  return SampleRuns.of({
    areDirectories: false,
    runs: runs satisfies SampleRun[],
  });
}

/** Returns the names on the path to a node, from the tree if it knows them, else from directory listings. */
function* pathOf(tree: Tree, node: NodeId): Steps<string[]> {
  const names: string[] = [];
  const into = new Uint8Array(4096);
  for (let at = node; at !== ROOT && names.length < DEEPEST;) {
    const parent = yield* whenLoaded(() => tree.parent(at));
    const length = yield* whenLoaded(() => tree.nameOf?.(at, into) ?? 0);
    names.unshift(
      length > 0
        ? decodeName(into.slice(0, length))
        : yield* listedName(tree, parent, at),
    );
    at = parent;
  }
  return names;
}

function* listedName(
  tree: Tree,
  directory: NodeId,
  node: NodeId,
): Steps<string> {
  const turns = new Turns();
  for (let cursor: number | undefined = 0; cursor !== undefined;) {
    yield* turns.step();
    const page: {
      entries: readonly { name: string; node: NodeId }[];
      next: number | undefined;
    } = yield* namesFrom(tree, directory, cursor, 1000);
    const found = page.entries.find((entry) => entry.node === node);
    if (found !== undefined) return found.name;
    cursor = page.next;
  }
  throw new ServeError(
    "not-found",
    "Cannot find the sample: it has no name in its directory",
  );
}
