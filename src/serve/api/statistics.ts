import { PICTURE_HEAD, pictureSize } from "../../codecs/image/picture_size.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { NodeView, ValueView } from "../../tree/node_view.ts";
import { type NodeId, ROOT } from "../../tree/tree.ts";
import { type WalkedNode, Walker } from "../../tree/vfs/walk.ts";
import { describe } from "../entries.ts";
import { metaIn } from "../decode/shown_cells.ts";
import { shownTree } from "../decode/shown_value.ts";
import { headOf } from "../head_of.ts";
import type { Served } from "../served.ts";
import { waitFor } from "../wait_for.ts";
import { CELL, type DisplayLimits, entriesOf, wordOf } from "./display.ts";
import { metaOf } from "./entry_response.ts";
import { Gathered } from "./gathered.ts";
import { isDecoded, isNullValue, isOfValue, kindOf, viewOf } from "./kinds.ts";
import { everyFew, lines } from "./lines.ts";
import { directoryIn } from "./listing.ts";
import type { Statistics } from "./messages.ts";
import type { Query } from "./query.ts";
import type { Display } from "./value_messages.ts";
import { Turns } from "./turns.ts";

/** Interval of interim results, in milliseconds. */
const TELL_EVERY = 300;
/** Maximum number of files whose contents are examined, local and remote. Larger sets are sampled. */
const MOST_LOOKED = 50_000;
const MOST_FETCHED = 2_000;
const LARGEST_LABEL = 64;
/** Bytes of an image that nearly always contain its size. */
const FIRST_HEAD = 1 << 12;
const META: DisplayLimits = {
  ...CELL,
  values: 1000,
  entries: 1000,
  text: 256,
};
/** Label of files in plain directories: the name of their top directory. */
const LABEL_OF_DIRECTORIES = "directory";

/** `api/statistics`: streams statistics of a directory and everything below it. */
export function* statistics(served: Served, query: Query): Steps<Response> {
  const directory = yield* directoryIn(served, query);
  return lines<Statistics>(served, async function* (signal) {
    const step = await stepFor(served, directory.node, signal);
    const counting = new Counting(served, step);
    const walker = new Walker(
      served.tree,
      directory.node,
      "",
      Infinity,
      () => counting.gathered.damaged++,
    );
    const { info } = served.fs;
    const total = directory.node === ROOT
      ? info.files + info.directories
      : null;
    const turns = new Turns();
    const isDue = everyFew(TELL_EVERY);
    for (;;) {
      const page = await runAsync(walker.nextPage(), signal);
      if (page.length === 0) break;
      for (const walked of page) {
        if (turns.areDue) await turns.give();
        await runAsync(counting.add(walked), signal);
        if (isDue()) {
          yield await counting.gathered.toMessage(total, false, turns);
        }
      }
    }
    yield await counting.gathered.toMessage(total, true, turns);
  });
}

/** Returns the sampling step: the contents of one of so many samples and images are examined; 1 if there are few. */
async function stepFor(
  { tree, fs }: Served,
  directory: NodeId,
  signal: AbortSignal | undefined,
): Promise<number> {
  const source = tree.sources.at(0);
  const most = source?.readCached === undefined || source.prefetch !== undefined
    ? MOST_FETCHED
    : MOST_LOOKED;
  const step = Math.max(Math.ceil(fs.info.files / most), 1);
  if (step === 1 || directory === ROOT) return step;
  const walker = new Walker(tree, directory, "", Infinity, () => {});
  for (let count = 0; count <= most;) {
    const page = await runAsync(walker.nextPage(), signal);
    if (page.length === 0) return 1;
    count += page.length;
  }
  return step;
}

/** Whether an item is sampled: evenly distributed, but not periodic, because labels may be periodic. */
function isChosen(number: number, step: number): boolean {
  return (Math.imul(number, GOLDEN) >>> 0) < 2 ** 32 / step;
}

/** 2^32 divided by the golden ratio: its multiples are evenly distributed over the 32-bit integers. */
const GOLDEN = 0x9e3779b1;

class Counting {
  readonly gathered = new Gathered();
  readonly #served: Served;
  /** Sampling step: one of so many contents is examined. */
  readonly #step: number;
  /** Datapoint that the walk is in, and whether its labels are examined. */
  #datapoint: NodeId = 0;
  #isLooked = true;

  constructor(served: Served, step: number) {
    this.#served = served;
    this.#step = step;
  }

  *add(walked: WalkedNode): Steps<void> {
    const { gathered } = this;
    const { node, name, directory, path } = walked;
    gathered.done++;
    const view = yield* viewOf(this.#served, node);
    const { isDirectory, size } = yield* describe(this.#served.tree, {
      name,
      node,
      next: 0,
    });
    const value = view?.kind === "value" ? view : undefined;
    if (isDirectory) {
      gathered.directories++;
      return yield* this.#addDirectory(node, view);
    }
    const kind = yield* kindOf(this.#served, node, name, false, view);
    gathered.addFile(size);
    gathered.addKind(kind);
    const key = value?.key ??
      (directory === this.#datapoint ? name : undefined);
    if (value !== undefined && key !== undefined) {
      gathered.addValue(key, value.type.name, size);
      yield* this.#addLabel(key, node, size, value);
    } else if (value === undefined) {
      const slash = path.indexOf("/");
      if (slash > 0 && (yield* this.#isPlain(directory))) {
        gathered.addLabel(LABEL_OF_DIRECTORIES, path.slice(0, slash));
      }
    }
    if (kind === "image" && size !== null) yield* this.#addPicture(node);
  }

  *#addDirectory(node: NodeId, view: NodeView | undefined): Steps<void> {
    const { gathered } = this;
    if (view?.kind === "datapoint") {
      gathered.addKind("datapoint");
      this.#datapoint = node;
      this.#isLooked = this.#addSample();
    }
    if (view?.kind !== "clip") return;
    gathered.addKind("clip");
    gathered.addClip(view.frames);
    if (view.meta === undefined || !this.#addSample()) return;
    const bytes = yield* metaOf(this.#served, node, view.meta);
    const known = bytes && metaIn(bytes, META)?.value;
    for (const [label, value] of labelsIn(known)) {
      gathered.addLabel(label, value);
    }
  }

  /** Counts a sample with labels. Returns whether they are examined. */
  #addSample(): boolean {
    const { samples } = this.gathered;
    const isLooked = isChosen(samples.total++, this.#step);
    if (isLooked) samples.looked++;
    return isLooked;
  }

  *#isPlain(directory: NodeId): Steps<boolean> {
    return (yield* viewOf(this.#served, directory)) === undefined;
  }

  /** Counts a datapoint's label. Labels are scalar values: numbers, short texts and the like. */
  *#addLabel(
    key: string,
    node: NodeId,
    size: number | null,
    view: ValueView,
  ): Steps<void> {
    if (size === null || size > LARGEST_LABEL) return;
    const { type } = view;
    const isLabel = type.kind === "text" ||
      isDecoded(type) && type.kind !== "array";
    if (!isLabel) return;
    if (!this.#isLooked) return;
    try {
      if (yield* isNullValue(view, size)) {
        return this.gathered.addLabel(key, null);
      }
      const bytes = yield* headOf(this.#served, node, LARGEST_LABEL);
      const shown = yield* waitFor(() => shownTree(bytes, type, CELL));
      const word = wordOf(shown!.value);
      if (word !== undefined) this.gathered.addLabel(key, word);
    } catch (error) {
      if (isOfValue(error)) return;
      throw error;
    }
  }

  *#addPicture(node: NodeId): Steps<void> {
    const { gathered } = this;
    if (!isChosen(gathered.pictures++, this.#step)) return;
    for (const length of [FIRST_HEAD, PICTURE_HEAD]) {
      const size = pictureSize(yield* headOf(this.#served, node, length));
      if (size === undefined) continue;
      gathered.addPicture(size);
      return;
    }
  }
}

/** Returns a clip's labels: the top-level scalars of its metadata. */
function labelsIn(known: Display | undefined): [string, string | null][] {
  const [first] = Array.isArray(known) ? known : [known];
  return entriesOf(first ?? null).flatMap(([label, value]) => {
    const word = wordOf(value);
    const isLabel = word !== undefined && (word?.length ?? 0) <= LARGEST_LABEL;
    return isLabel ? [[label, word]] : [];
  });
}
