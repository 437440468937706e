import type { NdArray } from "../../codecs/numpy/mod.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ValueView } from "../../tree/node_view.ts";
import type { NodeId } from "../../tree/tree.ts";
import { type ListedEntry, namesFrom } from "../entries.ts";
import { headOf } from "../head_of.ts";
import { encodeUrlName } from "../paths.ts";
import type { Served } from "../served.ts";
import { waitFor } from "../wait_for.ts";
import { displayNumbers, dtypeWord } from "./array_value.ts";
import { type Directory, valuesIn } from "./describe_entry.ts";
import { CELL, Displayed } from "./display.ts";
import { isOfValue, kindOf } from "./kinds.ts";
import type { Cell, CellValue, Kind } from "./messages.ts";
import type { Positions } from "./positions.ts";

/** Keys of a datapoint that are shown. */
const MOST_KEYS = 500;
/** Bytes of a value that is decoded for a cell: of text, so many are read. */
const LARGEST = 4096;
/** Bytes of an array whose shape is told. */
const LARGEST_ARRAY = 1 << 20;

/** The values of a datapoint, the small ones decoded. */
export function* cellsOf(
  served: Served,
  positions: Positions,
  node: NodeId,
  directory: Directory,
): Steps<Cell[]> {
  const { tree } = served;
  const cells: Cell[] = [];
  for (
    const { entry, view, above } of yield* valuesIn(served, node, MOST_KEYS)
  ) {
    const { name, isDirectory, size } = entry;
    const first = isDirectory
      ? (yield* namesFrom(tree, entry.node, 0, 1)).entries[0]
      : entry;
    const kind = first === undefined
      ? "binary"
      : yield* kindOf(served, first.node, name, false, view);
    cells.push({
      key: view?.key ?? above.path + name,
      type: view?.type ?? "",
      kind,
      size,
      path: directory.path + above.path + name,
      url: directory.url + above.url + encodeUrlName(name),
      isList: isDirectory,
      value: isDirectory
        ? { kind: "list", length: yield* positions.count(entry.node) }
        : yield* cellValue(served, entry, kind, view),
    });
  }
  return cells;
}

/** A value as far as it goes into a cell; what can't be decoded is not told here, but where it is looked at. */
function* cellValue(
  served: Served,
  { node, size }: ListedEntry,
  kind: Kind,
  view: ValueView | undefined,
): Steps<CellValue | null> {
  if (view === undefined || size === null) return null;
  const isText = view.holds === "bytes" && (kind === "text" || kind === "json");
  const holds = isText ? "text" : view.holds;
  const largest = holds === "array"
    ? LARGEST_ARRAY
    : holds === "text"
    ? Infinity
    : LARGEST;
  if (size > largest) return null;
  try {
    switch (holds) {
      case "text": {
        const bytes = yield* headOf(served, node, LARGEST);
        const text = new TextDecoder().decode(bytes).slice(0, CELL.text);
        const isCut = size > bytes.length || bytes.length > CELL.text;
        return { kind: "text", text: text.toWellFormed(), isCut };
      }
      case "number":
      case "tree": {
        const bytes = yield* headOf(served, node, LARGEST);
        const decoded = yield* waitFor(() => view.decode(bytes));
        const { value } = new Displayed(decoded, CELL);
        return { kind: "tree", value };
      }
      case "array": {
        const bytes = yield* headOf(served, node, LARGEST_ARRAY);
        const array = (yield* waitFor(() => view.decode(bytes))) as NdArray;
        const { shape, dtype } = array;
        const isSmall = shape.reduce((a, b) => a * b, 1) <= CELL.numbers;
        const data = isSmall ? displayNumbers(array, CELL.numbers) : null;
        return { kind: "array", shape, dtype: dtypeWord(dtype), data };
      }
      default:
        return null;
    }
  } catch (error) {
    if (isOfValue(error)) return null;
    throw error;
  }
}
