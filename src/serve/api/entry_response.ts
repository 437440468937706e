import type { Steps } from "../../io/concurrency/steps.ts";
import type { ClipView as TreeClip } from "../../tree/node_view.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { NodeId } from "../../tree/tree.ts";
import { json, jsonOf } from "../responses.ts";
import type { Decoding } from "../decode/decoding.ts";
import type { UndecodedParts } from "../decode/shown_cells.ts";
import { entriesFrom, namesFrom } from "../entries.ts";
import { headOf } from "../head_of.ts";
import { encodeUrlName } from "../paths.ts";
import { encodeName } from "../../base/names.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { Cells } from "./cells.ts";
import { directoryOf, entryOf, toEntry } from "./describe_entry.ts";
import { isOfContainer, viewOf } from "./kinds.ts";
import { directoryIn, namesOf, startOf } from "./listing.ts";
import type {
  ClipView,
  EntryMessage,
  EntryView,
  Row,
  RowsMessage,
} from "./messages.ts";
import type { Positions } from "./positions.ts";
import type { Query } from "./query.ts";
import type { Samples } from "./samples.ts";

/** Maximum number of frame names in one response. */
const MOST_NAMES = 1000;
const LARGEST_META = 1 << 20;
/** Default and maximum number of rows of a page. */
const USUAL_ROWS = 50;
const MOST_ROWS = 500;

/** `api/entry` and `api/row`: entries with their formats' views. */
export class EntryResponses {
  readonly #served: Served;
  readonly #positions: Positions;
  readonly #samples: Samples;
  readonly #decoding: Decoding;

  constructor(
    served: Served,
    positions: Positions,
    samples: Samples,
    decoding: Decoding,
  ) {
    this.#served = served;
    this.#positions = positions;
    this.#samples = samples;
    this.#decoding = decoding;
  }

  *entry(query: Query): Steps<Response> {
    const served = this.#served;
    const names = namesOf(query.path);
    const node = yield* served.get(query.path);
    const parent = directoryOf(names.slice(0, -1));
    const entry = yield* entryOf(served, parent, names.at(-1) ?? "", node);
    const above = yield* served.get(parent.url);
    const index = names.length === 0
      ? -1
      : yield* this.#positions.indexOf(above, node);
    const sample = yield* this.#samples.indexOf(node);
    const { view, cells, meta } = yield* this.#view(node, names);
    const message: EntryMessage = {
      entry,
      parent: parent.path.slice(0, -1),
      parentUrl: parent.url.slice(0, -1),
      index: index < 0 ? null : index,
      sample: sample < 0 ? null : sample,
      place: names.length === 0 ? null : yield* this.#placeIn(above, node),
      view,
    };
    return yield* this.#decoded(message, { cells, meta });
  }

  *#placeIn(
    directory: NodeId,
    node: NodeId,
  ): Steps<EntryMessage["place"]> {
    const samples = yield* this.#samples.within(directory);
    const index = samples?.indexOf(node) ?? -1;
    return index < 0 ? null : { index, length: samples!.length };
  }

  *#view(
    node: NodeId,
    names: readonly string[],
  ): Steps<UndecodedParts & { readonly view: EntryView | null }> {
    const nothing = { cells: [], meta: undefined };
    const view = yield* viewOf(this.#served, node);
    if (view?.kind === "clip") return yield* this.#clip(node, view, names);
    if (view?.kind !== "datapoint") return { ...nothing, view: null };
    const cells = new Cells(this.#served, this.#positions);
    const own = yield* cells.of(node, directoryOf(names));
    return {
      ...nothing,
      view: { kind: "datapoint", cells: own },
      cells: cells.contents,
    };
  }

  *#clip(
    node: NodeId,
    { frames, meta }: TreeClip,
    path: readonly string[],
  ): Steps<UndecodedParts & { readonly view: ClipView }> {
    const wanted = Math.min(frames, MOST_NAMES);
    const { tree } = this.#served;
    const { entries } = yield* namesFrom(tree, node, 0, wanted);
    return {
      view: {
        kind: "clip",
        frames,
        names: entries.map(({ name }) => name),
        framesPerSecond: null,
        meta: null,
        metaUrl: meta === undefined
          ? null
          : directoryOf(path).url + encodeUrlName(meta),
      },
      cells: [],
      meta: meta === undefined
        ? undefined
        : yield* metaOf(this.#served, node, meta),
    };
  }

  *rows(query: Query): Steps<Response> {
    const served = this.#served;
    const directory = yield* directoryIn(served, query);
    const start = startOf(query);
    const limit = query.number("limit", MOST_ROWS) ?? USUAL_ROWS;
    const { entries, next } = yield* entriesFrom(
      served.tree,
      directory.node,
      start,
      limit,
    );
    const all = new Cells(served, this.#positions);
    const rows: Row[] = [];
    let end = next;
    for (const [i, listed] of entries.entries()) {
      if (all.areMany) {
        end = start + i;
        break;
      }
      const index = start + i;
      const view = yield* viewOf(served, listed.node);
      if (view?.kind !== "datapoint") continue;
      const entry = yield* toEntry(served, directory, listed);
      const own = { path: `${entry.path}/`, url: `${entry.url}/` };
      try {
        const cells = yield* all.of(listed.node, own);
        rows.push({ entry, index, cells, damage: null });
      } catch (error) {
        if (!isOfContainer(error)) throw error;
        rows.push({ entry, index, cells: [], damage: error.message });
      }
    }
    const message: RowsMessage = {
      path: directory.path.slice(0, -1),
      keys: keysOf(rows),
      rows,
      next: end === undefined ? null : String(end),
      total: yield* this.#positions.count(directory.node),
      start,
    };
    const parts = { cells: all.contents, meta: undefined };
    return yield* this.#decoded(message, parts);
  }

  *#decoded(
    message: EntryMessage | RowsMessage,
    parts: UndecodedParts,
  ): Steps<Response> {
    if (parts.cells.length === 0 && parts.meta === undefined) {
      return json(message);
    }
    try {
      return jsonOf(yield* this.#decoding.cells(message, parts));
    } catch (error) {
      const isGone = error instanceof DOMException;
      if (isGone || error instanceof ServeError) throw error;
      return json(message); // undecoded: opening a value reports the error
    }
  }
}

function keysOf(rows: readonly Row[]): RowsMessage["keys"] {
  const cells = Map.groupBy(
    rows.flatMap(({ cells }) => cells),
    ({ key }) => key,
  );
  return [...cells].map(([key, of]) => ({
    key,
    type: [...new Set(of.map(({ type }) => type))].join(", "),
  }));
}

/** Reads a clip's JSON metadata file; `undefined` if it is missing, damaged or too large. */
export function* metaOf(
  served: Served,
  directory: NodeId,
  name: string,
): Steps<Uint8Array<ArrayBuffer> | undefined> {
  const { tree } = served;
  const bytes = encodeName(name);
  const node = yield* whenLoaded(() =>
    tree.lookup(directory, bytes, 0, bytes.length)
  );
  if (node === 0) return undefined;
  try {
    const text = yield* headOf(served, node, LARGEST_META + 1);
    return text.length > LARGEST_META ? undefined : text;
  } catch (error) {
    if (isOfContainer(error)) return undefined;
    throw error;
  }
}
