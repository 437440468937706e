/** JSON and what is like it, as a tree whose branches open. */
import type { Display, DisplayNumber } from "../../api/value_messages.ts";
import { button, type Child, element } from "../dom.ts";
import { bytes, count, shapeText } from "../text.ts";
import { smallDrawing } from "./array_drawing.ts";
import { isList, markerOf, numberText } from "./numbers.ts";

/** How many entries of a branch are shown at first, and with each step. */
const STEP = 100;

/** Branches up to this size are open at first, where they are not deep. */
const OPEN_SIZE = 24;
const OPEN_DEPTH = 2;

/** Keys and values of a branch, and how many it has. */
interface Branch {
  readonly isList: boolean;
  readonly entries: readonly (readonly [Child, Display])[];
  readonly length: number;
}

/** Shows a value as a tree. */
export function treeView(value: Display): HTMLElement {
  return element("div", { class: "tree" }, node(null, value, 0));
}

/** A key as an object has it: those that would be taken for markers have one `$` more on the way. */
function ownKey(key: string): string {
  return /^\$\$+$/.test(key) ? key.slice(1) : key;
}

function branchOf(value: Display): Branch | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (isList(value)) {
    const entries = value.map((each, i) => [String(i), each] as const);
    return { isList: true, entries, length: value.length };
  }
  const marker = markerOf(value);
  if (marker === undefined) {
    const entries = Object.entries(value).map(([key, each]) =>
      [ownKey(key), each] as const
    );
    return { isList: false, entries, length: entries.length };
  }
  if (marker.$ === "map" && isList(marker.pairs!)) {
    const entries = marker.pairs.map((pair) => {
      const [key = null, each = null] = isList(pair) ? pair : [];
      return [leaf(key) ?? summary(key), each] as const;
    });
    return { isList: false, entries, length: entries.length };
  }
  if (marker.$ === "cut" && typeof marker.shown === "object") {
    const shown = branchOf(marker.shown);
    return shown && { ...shown, length: Number(marker.length) };
  }
  return undefined;
}

function node(key: Child, value: Display, depth: number): HTMLElement {
  const branch = branchOf(value);
  if (branch === undefined || branch.length === 0) {
    return element(
      "div",
      { class: "leaf" },
      ...keyParts(key),
      branch === undefined ? leaf(value) : summary(value),
    );
  }
  const content = element("div", { class: "branch" });
  const fill = () => {
    if (!content.hasChildNodes()) grow(content, branch, 0, depth + 1);
  };
  const isOpen = depth === 0 ||
    depth < OPEN_DEPTH && branch.length <= OPEN_SIZE;
  if (isOpen) fill();
  return element(
    "details",
    { open: isOpen, toggle: fill },
    element("summary", {}, ...keyParts(key), summary(value)),
    content,
  );
}

function keyParts(key: Child): Child[] {
  return key === null ? [] : [element("span", { class: "key" }, key), ": "];
}

function grow(
  content: HTMLElement,
  { entries, length }: Branch,
  from: number,
  depth: number,
): void {
  const end = Math.min(entries.length, from + STEP);
  for (const [key, value] of entries.slice(from, end)) {
    content.append(node(key, value, depth));
  }
  if (end < entries.length) {
    const more = button(`Show more of ${count(length)}`, () => {
      more.remove();
      grow(content, { isList: false, entries, length }, end, depth);
    });
    content.append(more);
  } else if (length > entries.length) {
    content.append(
      element(
        "p",
        { class: "note" },
        `${count(length - entries.length)} more are left out`,
      ),
    );
  }
}

function summary(value: Display): HTMLElement {
  const branch = branchOf(value);
  const [open, close] = branch?.isList ? "[]" : "{}";
  const text = branch === undefined
    ? ""
    : branch.length === 0
    ? `${open}${close}`
    : `${open} ${count(branch.length)} ${close}`;
  return element("span", { class: "size" }, text);
}

/** A value without branches. */
function leaf(value: Display): HTMLElement | null {
  if (value === null) return element("span", { class: "constant" }, "null");
  switch (typeof value) {
    case "string":
      return element("span", { class: "string" }, JSON.stringify(value));
    case "number":
      return element("span", { class: "number" }, String(value));
    case "boolean":
      return element("span", { class: "constant" }, String(value));
  }
  const marker = markerOf(value);
  switch (marker?.$) {
    case "integer":
      return element("span", { class: "number" }, String(marker.digits));
    case "float":
      return element("span", { class: "number" }, String(marker.text));
    case "bytes":
      return bytesLeaf(Number(marker.size), String(marker.base64));
    case "array":
      return arrayLeaf(
        marker.shape as readonly number[],
        String(marker.dtype),
        marker.data as readonly DisplayNumber[],
      );
    case "deep":
      return element("span", { class: "size" }, "… too deep to show");
    case "cut":
      return element(
        "span",
        { class: "string" },
        `${JSON.stringify(marker.shown)}… (${count(Number(marker.length))})`,
      );
    case "other":
      return element(
        "span",
        { class: "size" },
        `${marker.type} ${marker.text}`,
      );
    default:
      return null;
  }
}

function bytesLeaf(size: number, base64: string): HTMLElement {
  const head = Uint8Array.fromBase64(base64).subarray(0, 16);
  const hex = [...head].map((byte) => byte.toString(16).padStart(2, "0"));
  return element(
    "span",
    { class: "bytes" },
    `bytes (${bytes(size)}) ${hex.join(" ")}${size > head.length ? " …" : ""}`,
  );
}

function arrayLeaf(
  shape: readonly number[],
  dtype: string,
  data: readonly DisplayNumber[],
): HTMLElement {
  const length = shape.reduce((all, size) => all * size, 1);
  const isWhole = data.length === length;
  const drawing = isWhole && length > 16
    ? smallDrawing({ shape, dtype, data })
    : null;
  const numbers = data.slice(0, 16).map(numberText).join(", ");
  return element(
    "span",
    { class: "array-leaf" },
    `array ${shapeText(shape)} ${dtype} `,
    drawing ?? `[${numbers}${length > 16 ? ", …" : ""}]`,
  );
}

/** A value in one line, for cells of tables. */
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
  if (branch === undefined) return leaf(value)?.textContent ?? "";
  const parts = branch.entries.slice(0, 8).map(([key, each]) => {
    const name = typeof key === "string" ? key : key?.textContent ?? "";
    // In quotes, where it would not be told from `null` and numbers.
    const shown = typeof each === "string"
      ? JSON.stringify(each)
      : shortText(each);
    return branch.isList ? shown : `${name}: ${shown}`;
  });
  if (branch.length > parts.length) parts.push("…");
  const [open, close] = branch.isList ? "[]" : "{}";
  return `${open}${parts.join(", ")}${close}`;
}
