/** View of JSON and similar values as a tree with collapsible branches. */
import type { Display } from "../../api/value_messages.ts";
import { type Child, element } from "../dom.ts";
import { bytes, count, shapeText } from "../text.ts";
import { isList, markerOf } from "./numbers.ts";
import {
  askingButton,
  type AskPart,
  leaf,
  NOWHERE,
  type TreePlace,
} from "./tree_leaf.ts";

/** Entries of a branch shown at first, and added per step. */
const STEP = 100;

/** Branches up to this size and depth are initially open. */
const OPEN_SIZE = 24;
const OPEN_DEPTH = 2;

interface BranchEntry {
  readonly key: Display;
  readonly value: Display;
}

/** List or object, perhaps with its first entries only. */
interface Branch {
  readonly isList: boolean;
  /** Whether keys are shown without quotes. */
  readonly areNames: boolean;
  readonly entries: readonly BranchEntry[];
  readonly length: number;
}

/** Creates the view of a value as a tree. `ask` requests truncated parts; without it, their sizes are shown. */
export function treeView(value: Display, ask?: AskPart): HTMLElement {
  const place = { part: "", ask };
  return element("div", { class: "tree" }, node(null, value, 0, place));
}

/** Unescapes a key: those that could be taken for markers have an additional `$`. */
function ownKey(key: string): string {
  return /^\$\$+$/.test(key) ? key.slice(1) : key;
}

function branchOf(value: Display): Branch | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (isList(value)) {
    const entries = value.map((each, i) => ({ key: i, value: each }));
    return { isList: true, areNames: true, entries, length: value.length };
  }
  const marker = markerOf(value);
  if (marker === undefined) {
    const entries = Object.entries(value).map(([key, each]) => ({
      key: ownKey(key),
      value: each,
    }));
    return { isList: false, areNames: true, entries, length: entries.length };
  }
  if (marker.$ === "map" || marker.$ === "object") {
    const pairs = isList(marker.pairs ?? null)
      ? marker.pairs as readonly Display[]
      : [];
    const entries = pairs.map((pair) => {
      const [key = null, value = null] = isList(pair) ? pair : [];
      return { key, value };
    });
    const areNames = marker.$ === "object";
    return { isList: false, areNames, entries, length: entries.length };
  }
  if (marker.$ === "cut" && typeof marker.shown === "object") {
    const shown = branchOf(marker.shown);
    return shown && { ...shown, length: Number(marker.length) };
  }
  return undefined;
}

function node(
  key: Child,
  value: Display,
  depth: number,
  place: TreePlace,
): HTMLElement {
  const branch = branchOf(value);
  if (branch === undefined || branch.length === 0) {
    return element(
      "div",
      { class: "leaf" },
      ...keyParts(key),
      branch === undefined ? leaf(value, place) : summary(branch),
    );
  }
  const content = element("div", { class: "branch" });
  let isFilled = false;
  const fill = () => {
    if (isFilled) return;
    isFilled = true;
    grow(content, branch, 0, 0, depth + 1, place);
    // A branch truncated to nothing is loaded when it is opened.
    if (branch.entries.length === 0) content.querySelector("button")?.click();
  };
  const isOpen = depth === 0 ||
    depth < OPEN_DEPTH && branch.length <= OPEN_SIZE &&
      branch.entries.length > 0;
  if (isOpen) fill();
  return element(
    "details",
    { open: isOpen, toggle: fill },
    element("summary", {}, ...keyParts(key), summary(branch)),
    content,
  );
}

function keyParts(key: Child): Child[] {
  return key === null ? [] : [element("span", { class: "key" }, key), ": "];
}

/**
 * Adds entries to a branch's view.
 *
 * @param first Index of the first entry in `branch`.
 * @param from Index of the first entry to add, relative to `first`.
 */
function grow(
  content: HTMLElement,
  branch: Branch,
  first: number,
  from: number,
  depth: number,
  { part, ask }: TreePlace,
): void {
  const { entries, length } = branch;
  const end = Math.min(entries.length, from + STEP);
  for (let i = from; i < end; i++) {
    content.append(entryNode(branch, first + i, entries[i]!, depth, {
      part,
      ask,
    }));
  }
  const left = length - first - end;
  if (left <= 0) return;
  if (end === entries.length && ask === undefined) {
    const text = `${count(left)} more are left out`;
    content.append(element("p", { class: "note" }, text));
    return;
  }
  const text = `Show more of ${count(length)}: ${count(left)} left`;
  const more = askingButton(text, async () => {
    if (end < entries.length) {
      more.remove();
      return grow(content, branch, first, end, depth, { part, ask });
    }
    const next = branchOf(await ask!(part, first + end));
    more.remove();
    if (next === undefined || next.entries.length === 0) return; // the file has changed
    const { isList, areNames, entries: added } = next;
    const grown = { isList, areNames, entries: added, length };
    grow(content, grown, first + end, 0, depth, { part, ask });
  });
  content.append(more);
}

function entryNode(
  { isList, areNames }: Branch,
  index: number,
  { key, value }: BranchEntry,
  depth: number,
  { part, ask }: TreePlace,
): HTMLElement {
  const at = (step: string) => ({
    part: part === "" ? step : `${part}.${step}`,
    ask,
  });
  const place = at(String(index));
  if (isList) return node(String(index), value, depth, place);
  if (areNames && typeof key === "string") {
    return node(key, value, depth, place);
  }
  const isPlain = branchOf(key) === undefined && markerOf(key)?.$ !== "cut";
  if (isPlain) return node(leaf(key, NOWHERE), value, depth, place);
  return element(
    "div",
    { class: "pair" },
    node("key", key, depth, at(`k${index}`)),
    node("value", value, depth, place),
  );
}

function summary({ isList, length }: Branch): HTMLElement {
  const [open, close] = isList ? "[]" : "{}";
  const text = length === 0
    ? `${open}${close}`
    : `${open} ${count(length)} ${close}`;
  return element("span", { class: "size" }, text);
}

/** Formats a value in one line, for table cells. */
export function shortText(value: Display): string {
  if (value === null || typeof value !== "object") {
    return typeof value === "string" ? value : String(value);
  }
  const marker = markerOf(value);
  if (marker?.$ === "integer" || marker?.$ === "float") {
    return String(marker.digits ?? marker.text);
  }
  if (marker?.$ === "bytes") return `bytes (${bytes(Number(marker.size))})`;
  if (marker?.$ === "array") {
    return `array ${shapeText(marker.shape as readonly number[])}`;
  }
  const branch = branchOf(value);
  if (branch === undefined) return leaf(value, NOWHERE)?.textContent ?? "";
  const parts = branch.entries.slice(0, 8).map(({ key, value }) => {
    // Quoted, to distinguish it from `null` and numbers.
    const shown = typeof value === "string"
      ? JSON.stringify(value)
      : shortText(value);
    if (branch.isList) return shown;
    const name = branch.areNames || typeof key !== "string"
      ? shortText(key)
      : JSON.stringify(key);
    return `${name}: ${shown}`;
  });
  if (branch.length > parts.length) parts.push("…");
  const [open, close] = branch.isList ? "[]" : "{}";
  return `${open}${parts.join(", ")}${close}`;
}
