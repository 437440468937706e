/** View of a file by its kind, or by the kind of its decoded value. */
import { get, isAbort, problemOf } from "../api.ts";
import type { Entry } from "../../api/messages.ts";
import type {
  BytesValue,
  TableValue,
  TextValue,
  TreeValue,
  ValueMessage,
} from "../../api/value_messages.ts";
import { Choice, element } from "../dom.ts";
import { arraysView, arrayView } from "./array.ts";
import { mediaView, pictureView } from "./media.ts";
import { bytesView, encodingNote, tableView, textView } from "./text.ts";
import { treeView } from "./tree.ts";
import type { AskPart } from "./tree_leaf.ts";

export type Shown = Pick<Entry, "name" | "url" | "kind" | "size">;

/** Alternative view of a file; the value of the server's `as` parameter. */
export type As = "text" | "bytes";

/** Creates the view of a file by its kind, or by `as`. `isSmall` if it is one value among others. */
export async function fileView(
  entry: Shown,
  signal: AbortSignal,
  as?: As,
  isSmall = false,
): Promise<HTMLElement> {
  // For empty and damaged files, the server reports the reason.
  if (as === undefined && entry.size) {
    switch (entry.kind) {
      case "image":
        return pictureView(entry, signal);
      case "video":
      case "audio":
        return mediaView(entry, entry.kind, signal);
    }
  }
  const ask = <T extends ValueMessage>(offset?: number, shown = as) =>
    get<T>("value", { path: entry.url, offset, as: shown }, signal);
  const value = await ask();
  switch (value.kind) {
    case "array":
      return arrayView(
        value,
        isSmall,
        (first) => get("value", { path: entry.url, first }, signal),
      );
    case "array-part":
      throw new TypeError("No part of an array was asked for.");
    case "arrays":
      return arraysView(value);
    case "svg":
      return pictureView(entry, signal);
    case "tree":
      return element(
        "div",
        {},
        encodingNote(value),
        treeView(value.value, partsOf(entry.url, signal)),
      );
    case "table":
      return tableView(
        value,
        (offset) => ask<TableValue | TextValue | BytesValue>(offset),
      );
    case "text":
      return textView(
        value,
        (offset) => ask<TextValue | BytesValue>(offset, "text"),
      );
    case "bytes":
      return bytesView(value, (offset) => ask<BytesValue>(offset, "bytes"));
  }
}

export function partsOf(url: string, signal: AbortSignal): AskPart {
  return async (part, from) => {
    const query = { path: url, part: part || undefined, skip: from };
    return (await get<TreeValue>("value", query, signal)).value;
  };
}

const WAYS = [["it", "Decoded"], ["text", "Text"], ["bytes", "Hex"]] as const;

export function fileSection(
  entry: Shown,
  as: As | undefined,
  signal: AbortSignal,
  onChoose: (as: As | undefined) => void,
): HTMLElement {
  const place = element("div", { class: "shown", "aria-busy": "true" });
  let latest = 0;
  const show = async (way: As | undefined) => {
    const turn = ++latest;
    const view = await fileView(entry, signal, way).catch((error: unknown) =>
      isAbort(error) ? null : problemOf(error)
    );
    if (view === null || turn !== latest) return;
    place.replaceChildren(view);
    place.removeAttribute("aria-busy");
  };
  void show(as);
  const choice = new Choice("Shown as", WAYS, as ?? "it", (chosen) => {
    const way = chosen === "it" ? undefined : chosen;
    onChoose(way);
    void show(way);
  });
  return element(
    "section",
    { class: "file" },
    element("div", { class: "ways" }, choice.element),
    place,
  );
}
