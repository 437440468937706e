/** View of a single entry: contents, metadata, and navigation to its neighbours. */
import type { Entry, EntryMessage } from "../../api/messages.ts";
import { fileUrl } from "../api.ts";
import { element } from "../dom.ts";
import { icon } from "../icons.ts";
import type { Key } from "../keyboard.ts";
import { KIND_NAMES } from "../listing/tiles.ts";
import { hashOf, keepInAddress, type Route } from "../route.ts";
import { bytes, capitalized, count, shownName, time, unitOf } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { ClipPlayer } from "./clip.ts";
import { datapointView } from "./datapoint.ts";
import { Neighbours } from "./neighbours.ts";
import { treeView } from "./tree.ts";
import { type As, fileSection, partsOf } from "./value.ts";

export function itemView(
  route: Route,
  message: EntryMessage,
  { signal, info }: Scene,
): View {
  const { entry, view } = message;
  const neighbours = new Neighbours(route, message, signal);
  const keys: Key[] = [...neighbours.keys];
  let content: HTMLElement;
  if (view?.kind === "clip") {
    const frame = Math.trunc(Number(route.parameters.get("frame"))) || 0;
    const player = new ClipPlayer(
      entry,
      view,
      Math.max(0, frame),
      (frame) => keepInAddress(route, { frame }),
      signal,
    );
    content = player.element;
    keys.push(...player.keys);
  } else if (view?.kind === "datapoint") {
    content = datapointView(view, signal);
  } else {
    const as = route.parameters.get("as");
    content = fileSection(
      entry,
      as === "text" || as === "bytes" ? as : undefined,
      signal,
      (chosen: As | undefined) => keepInAddress(route, { as: chosen ?? null }),
    );
    if (
      entry.kind === "image" || entry.kind === "video" || entry.kind === "audio"
    ) {
      content.classList.add("media");
    }
  }
  const meta = view?.kind === "clip" && view.meta !== null
    ? element(
      "section",
      { "aria-label": "Labels" },
      element("h3", {}, "Labels"),
      treeView(
        view.meta,
        view.metaUrl === null ? undefined : partsOf(view.metaUrl, signal),
      ),
    )
    : null;
  const unit = unitOf(info.samples);
  return {
    element: element(
      "article",
      { class: "item", "aria-label": shownName(entry.name) },
      element(
        "div",
        { class: "bar" },
        icon(entry.kind),
        element("h2", { title: shownName(entry.name) }, shownName(entry.name)),
        neighbours.element,
      ),
      element(
        "div",
        { class: "sides" },
        element("div", { class: "content", tabindex: -1 }, content),
        element(
          "aside",
          { "aria-label": "Facts" },
          facts(message, unit),
          links(entry),
          meta,
        ),
      ),
    ),
    title: shownName(entry.name),
    keys,
  };
}

function facts(
  { entry, sample }: EntryMessage,
  unit: string,
): HTMLElement {
  const pairs: (readonly [string, string])[] = [
    ["Kind", KIND_NAMES[entry.kind]],
    ...(entry.isDirectory ? [] : [["Size", sizeText(entry)] as const]),
    ...(sample === null
      ? []
      : [[`${capitalized(unit)} number`, count(sample)] as const]),
    ...(entry.damage === null ? [] : [["Damage", entry.damage] as const]),
    ["Path", shownName(entry.path)],
    ["Changed", time(entry.mtime)],
  ];
  return element(
    "dl",
    { class: "facts" },
    ...pairs.flatMap(([name, text]) => [
      element("dt", {}, name),
      element("dd", {}, text),
    ]),
  );
}

/** Such as `Video number`. */
function sizeText({ size }: Entry): string {
  if (size === null) return "unknown: the container is damaged here";
  return size < 1000 ? bytes(size) : `${bytes(size)} (${count(size)} bytes)`;
}

function links(entry: Entry): HTMLElement {
  return element(
    "p",
    { class: "links" },
    entry.isDirectory
      ? element(
        "a",
        { class: "button", href: hashOf(entry.url, { view: "table" }) },
        "Show as files",
      )
      : element(
        "a",
        { class: "button", href: fileUrl(entry.url), download: entry.name },
        "Download",
      ),
  );
}
