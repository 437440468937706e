import { FormatError } from "../../errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ClipView as TreeClip } from "../../tree/node_view.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { NodeId } from "../../tree/tree.ts";
import { entriesFrom, namesFrom } from "../entries.ts";
import { headOf } from "../head_of.ts";
import { encodeName } from "../../names.ts";
import type { Served } from "../served.ts";
import { cellsOf } from "./cells.ts";
import { directoryOf, entryOf, toEntry } from "./describe_entry.ts";
import { Displayed, WHOLE } from "./display.ts";
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
import { parseJson } from "./value.ts";

/** Names of frames that are told at once. */
const MOST_NAMES = 1000;
/** Bytes of what is known of a clip. */
const LARGEST_META = 1 << 20;
/** Rows of a page, unless told otherwise, and at most. */
const USUAL_ROWS = 50;
const MOST_ROWS = 500;

/** `api/entry`: one entry, and what its format says of it. */
export function* entryAnswer(
  served: Served,
  positions: Positions,
  samples: Samples,
  query: Query,
): Steps<EntryMessage> {
  const names = namesOf(query.path);
  const node = yield* served.get(query.path);
  const parent = directoryOf(names.slice(0, -1));
  const entry = yield* entryOf(served, parent, names.at(-1) ?? "", node);
  const above = yield* served.get(parent.url);
  const index = names.length === 0 ? -1 : yield* positions.indexOf(above, node);
  const sample = yield* samples.indexOf(node);
  return {
    entry,
    parent: parent.path.slice(0, -1),
    parentUrl: parent.url.slice(0, -1),
    index: index < 0 ? null : index,
    sample: sample < 0 ? null : sample,
    view: yield* viewAnswer(served, positions, node, names),
  };
}

function* viewAnswer(
  served: Served,
  positions: Positions,
  node: NodeId,
  names: readonly string[],
): Steps<EntryView | null> {
  const view = yield* viewOf(served, node);
  if (view?.kind === "clip") return yield* clipAnswer(served, node, view);
  if (view?.kind !== "datapoint") return null;
  const cells = yield* cellsOf(served, positions, node, directoryOf(names));
  return { kind: "datapoint", cells };
}

function* clipAnswer(
  served: Served,
  node: NodeId,
  { frames, meta }: TreeClip,
): Steps<ClipView> {
  const wanted = Math.min(frames, MOST_NAMES);
  const { entries } = yield* namesFrom(served.tree, node, 0, wanted);
  const known = meta === undefined
    ? undefined
    : yield* metaOf(served, node, meta);
  return {
    kind: "clip",
    frames,
    names: entries.map(({ name }) => name),
    framesPerSecond: rateIn(known),
    meta: known === undefined ? null : new Displayed(known, WHOLE).value,
  };
}

/** What is known of a clip, as its file of JSON says it; nothing where that is damaged or large. */
export function* metaOf(
  served: Served,
  directory: NodeId,
  name: string,
): Steps<unknown> {
  const { tree } = served;
  const bytes = encodeName(name);
  const node = yield* whenLoaded(() =>
    tree.lookup(directory, bytes, 0, bytes.length)
  );
  if (node === 0) return undefined;
  try {
    const text = yield* headOf(served, node, LARGEST_META + 1);
    if (text.length > LARGEST_META) return undefined;
    return parseJson(new TextDecoder().decode(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FormatError) {
      return undefined;
    }
    throw error;
  }
}

/** Frames a second, where somebody has written them down by a name that is usual. */
function rateIn(known: unknown): number | null {
  const [first] = Array.isArray(known) ? known : [known];
  if (typeof first !== "object" || first === null) return null;
  for (const key of ["fps", "frame_rate", "framerate", "frames_per_second"]) {
    const rate = Number((first as Record<string, unknown>)[key]);
    if (rate > 0 && rate <= 1000) return rate;
  }
  return null;
}

/** `api/row`: datapoints of a directory, with their values as far as they go into a table. */
export function* rowsAnswer(
  served: Served,
  positions: Positions,
  query: Query,
): Steps<RowsMessage> {
  const directory = yield* directoryIn(served, query);
  const start = startOf(query);
  const limit = query.number("limit", MOST_ROWS) ?? USUAL_ROWS;
  const { tree } = served;
  const page = yield* entriesFrom(tree, directory.node, start, limit);
  const rows: Row[] = [];
  for (const [i, listed] of page.entries.entries()) {
    const index = start + i;
    const view = yield* viewOf(served, listed.node);
    if (view?.kind !== "datapoint") continue;
    const entry = yield* toEntry(served, directory, listed);
    const own = { path: `${entry.path}/`, url: `${entry.url}/` };
    try {
      const cells = yield* cellsOf(served, positions, listed.node, own);
      rows.push({ entry, index, cells, damage: null });
    } catch (error) {
      if (!isOfContainer(error)) throw error;
      rows.push({ entry, index, cells: [], damage: error.message });
    }
  }
  const cells = Map.groupBy(
    rows.flatMap(({ cells }) => cells),
    ({ key }) => key,
  );
  const keys = [...cells].map(([key, of]) => ({
    key,
    type: [...new Set(of.map(({ type }) => type))].join(", "),
  }));
  return {
    path: directory.path.slice(0, -1),
    keys,
    rows,
    next: page.next === undefined ? null : String(page.next),
    total: yield* positions.count(directory.node),
    start,
  };
}
