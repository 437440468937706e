import type { Steps } from "../../io/concurrency/steps.ts";
import type { ValueView } from "../../tree/node_view.ts";
import type { NodeId } from "../../tree/tree.ts";
import { isOwn } from "../decode/decoding.ts";
import { type CellContent, cellValueOf } from "../decode/shown_cells.ts";
import { textOf } from "../decode/text_encoding.ts";
import { type ListedEntry, namesFrom } from "../entries.ts";
import { headOf } from "../head_of.ts";
import { encodeUrlName } from "../paths.ts";
import type { Served } from "../served.ts";
import { waitFor } from "../wait_for.ts";
import { type Directory, valuesIn } from "./describe_entry.ts";
import { CELL } from "./display.ts";
import { isDecoded, isNullValue, isOfValue, kindOf } from "./kinds.ts";
import type { Cell, CellValue, Kind } from "./messages.ts";
import type { Positions } from "./positions.ts";
import { Turns } from "./turns.ts";

/** Maximum number of a datapoint's keys. */
const MOST_KEYS = 500;
/** Maximum bytes of a value decoded for a cell. Text is truncated to this many. */
const LARGEST = 4096;
/** Maximum bytes of an array whose shape is shown. */
const LARGEST_ARRAY = 1 << 20;
/** Maximum number of cells in a response, and bytes of their values. */
const MOST_CELLS = 25_000;
const MOST_BYTES = 8 << 20;

/** Cells of one response. Their contents are collected here and decoded in another thread. */
export class Cells {
  /** Contents with the indices of their cells. */
  readonly contents: (CellContent & { readonly at: number })[] = [];
  readonly #served: Served;
  readonly #positions: Positions;
  readonly #turns = new Turns();
  #count = 0;
  #bytes = 0;

  constructor(served: Served, positions: Positions) {
    this.#served = served;
    this.#positions = positions;
  }

  get areMany(): boolean {
    return this.#count >= MOST_CELLS;
  }

  /** Returns the cells of a datapoint. If it is damaged, adds none of its contents. */
  *of(node: NodeId, directory: Directory): Steps<Cell[]> {
    const before = this.contents.length;
    const cells: Cell[] = [];
    try {
      const values = yield* valuesIn(this.#served, node, MOST_KEYS);
      for (const { entry, view, above } of values) {
        const at = this.#count + cells.length;
        cells.push(yield* this.#cell(entry, view, above, directory, at));
      }
    } catch (error) {
      this.contents.length = before;
      throw error;
    }
    this.#count += cells.length;
    return cells;
  }

  *#cell(
    entry: ListedEntry,
    view: ValueView | undefined,
    above: Directory,
    directory: Directory,
    at: number,
  ): Steps<Cell> {
    const served = this.#served;
    const { name, isDirectory, size, node } = entry;
    yield* this.#turns.step();
    const first = isDirectory
      ? (yield* namesFrom(served.tree, node, 0, 1)).entries[0]
      : entry;
    const kind = first === undefined
      ? "binary"
      : yield* kindOf(served, first.node, name, false, view);
    return {
      key: view?.key ?? above.path + name,
      type: view?.type.name ?? "",
      kind,
      size,
      path: directory.path + above.path + name,
      url: directory.url + above.url + encodeUrlName(name),
      isList: isDirectory,
      value: isDirectory
        ? { kind: "list", length: yield* this.#positions.count(node) }
        : yield* this.#value(entry, kind, view, at),
    };
  }

  /** Returns a value that needs no decoding; collects the content otherwise. */
  *#value(
    { node, size }: ListedEntry,
    kind: Kind,
    view: ValueView | undefined,
    at: number,
  ): Steps<CellValue | null> {
    if (view === undefined || size === null) return null;
    if (yield* this.#isNull(view, size)) return { kind: "tree", value: null };
    const { type } = view;
    const isText = type.kind === "text" ||
      type.kind === "bytes" && (kind === "text" || kind === "json");
    if (!isText && !isDecoded(type)) return null;
    const isArray = type.kind === "array";
    const largest = isArray ? LARGEST_ARRAY : LARGEST;
    if (size > largest && !isText || this.#bytes >= MOST_BYTES) return null;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = yield* headOf(this.#served, node, largest);
    } catch (error) {
      if (isOfValue(error)) return null; // opening the value reports the error
      throw error;
    }
    this.#bytes += bytes.length;
    if (isText) {
      const decoded = type.kind === "text"
        ? new TextDecoder().decode(bytes)
        : textOf(bytes);
      const text = decoded.slice(0, CELL.text);
      const isCut = size > bytes.length || bytes.length > CELL.text;
      return { kind: "text", text: text.toWellFormed(), isCut };
    }
    const content = { bytes, type };
    if (isOwn(type)) return yield* waitFor(() => cellValueOf(content));
    this.contents.push({ at, ...content });
    return null;
  }

  *#isNull(view: ValueView, size: number): Steps<boolean> {
    try {
      return yield* isNullValue(view, size);
    } catch (error) {
      if (isOfValue(error)) return false; // the value's own page reports the error
      throw error;
    }
  }
}
