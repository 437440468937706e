/** View of a datapoint: each key with its value, drawn by its type. */
import { fileUrl, get, problemOf } from "../api.ts";
import type { Cell, DatapointView, ListMessage } from "../../api/messages.ts";
import { button, element } from "../dom.ts";
import { hashOf } from "../route.ts";
import { bytes, counted, shownKey, shownName } from "../text.ts";
import { fileView } from "./value.ts";

/** Elements of a list shown at first, and added per step. */
const STEP = 12;

export function datapointView(
  { cells }: DatapointView,
  signal: AbortSignal,
): HTMLElement {
  if (cells.length === 0) {
    return element("p", { class: "note" }, "The sample has no keys.");
  }
  return element(
    "div",
    { class: "cells" },
    ...cells.map((cell) => cellSection(cell, signal)),
  );
}

function cellSection(cell: Cell, signal: AbortSignal): HTMLElement {
  const content = element("div", { class: "cell-content" });
  const shown = cell.isList
    ? listView(cell, content, signal)
    : fileView({ ...cell, name: cell.key }, signal, undefined, true).then((
      view,
    ) => content.replaceChildren(view));
  shown.catch((error: unknown) => {
    if (signal.aborted) return;
    content.replaceChildren(problemOf(error));
  });
  const key = shownKey(cell.key);
  return element(
    "section",
    { class: `cell kind-${cell.kind}`, "aria-label": key },
    element(
      "header",
      {},
      element("h3", {}, element("a", { href: hashOf(cell.url) }, key)),
      element("span", { class: "type", title: cell.type }, cell.type),
      cell.isList ? null : element(
        "a",
        { class: "size", href: fileUrl(cell.url), download: cell.key },
        bytes(cell.size),
      ),
    ),
    content,
  );
}

async function listView(
  cell: Cell,
  into: HTMLElement,
  signal: AbortSignal,
  from = 0,
): Promise<void> {
  const query = { path: cell.url, at: from, limit: STEP };
  const { entries, next, total } = await get<ListMessage>(
    "list",
    query,
    signal,
  );
  if (from === 0 && entries.length === 0) {
    into.append(element("p", { class: "note" }, "The list is empty."));
  }
  for (const entry of entries) {
    const value = entry.isDirectory
      ? element("p", { class: "note" }, "It is a list itself.")
      : await fileView({ ...entry, kind: cell.kind }, signal, undefined, true);
    into.append(element(
      "section",
      { class: "element", "aria-label": shownName(entry.name) },
      element("a", { href: hashOf(entry.url) }, shownName(entry.name)),
      value,
    ));
  }
  if (next === null) return;
  const left = total === null ? "" : ` of ${counted(total, "value")}`;
  const more = button(`Show more${left}`, () => {
    more.remove();
    void listView(cell, into, signal, from + entries.length);
  });
  into.append(more);
}
