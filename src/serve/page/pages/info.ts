/** View of the container's properties, keys and parts. */
import type { InfoMessage } from "../../api/messages.ts";
import { element } from "../dom.ts";
import { encodedPath, hashOf, type Route } from "../route.ts";
import { containerName } from "../header.ts";
import { bytes, count, counted, shownKey, shownName, unitOf } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { recordsSection } from "./records.ts";

const MOST_LISTED = 200;

type Facts = InfoMessage["info"];

export function infoView(_route: Route, { info }: Scene): View {
  const several = info.info.containers ?? [];
  return {
    element: element(
      "section",
      { class: "page info" },
      element(
        "div",
        { class: "bar" },
        element(
          "h2",
          {},
          several.length === 0 ? shownName(info.name) : containerName(info),
        ),
      ),
      ...(several.length === 0
        ? [containerFacts(info.info, info)]
        : several.map(({ location, path, info: each }) =>
          element(
            "section",
            {},
            element(
              "h3",
              {},
              element(
                "a",
                { href: hashOf(encodedPath(path)) },
                shownName(path),
              ),
            ),
            element("p", { class: "note" }, shownName(location)),
            containerFacts(each, null),
          )
        )),
      element("p", { class: "note" }, `recordfs ${info.version}`),
    ),
    title: "Info",
    keys: [{
      key: "Escape",
      says: "Back to the container",
      run: () => location.hash = "#/",
    }],
  };
}

function containerFacts(info: Facts, message: InfoMessage | null): HTMLElement {
  const samples = message?.samples ?? null;
  const pairs: readonly (readonly [string, string])[] = [
    ["Format", info.format],
    ["Kind", info.kind],
    ["Files", count(info.files)],
    ["Directories", count(info.directories)],
    ["Bytes", `${bytes(info.bytes)} (${count(info.bytes)})`],
    ...Object.entries(info.facts ?? {})
      .filter(([name]) => name !== "samples" || samples === null)
      .map(([name, value]) =>
        [name[0]!.toUpperCase() + name.slice(1), count(value)] as const
      ),
    ...(samples === null
      ? []
      : [["Samples", counted(samples.length, unitOf(samples))] as const]),
    ...(message?.sources ?? []).map(({ location }) =>
      ["Source", shownName(location)] as const
    ),
  ];
  return element(
    "div",
    {},
    element(
      "dl",
      { class: "facts" },
      ...pairs.flatMap(([name, text]) => [
        element("dt", {}, name),
        element("dd", {}, text),
      ]),
    ),
    ...(info.notes ?? []).map((note) =>
      element("p", { class: "note" }, shownName(note))
    ),
    recordsSection(
      "Keys",
      ["Key", "Type", "Values", "Bytes"],
      (info.keys ?? []).map(({ name, type, records, bytes: size }) => [
        shownKey(name),
        type,
        count(records),
        bytes(size),
      ]),
      MOST_LISTED,
    ),
    recordsSection(
      "Parts",
      ["File", "Samples", "Bytes"],
      info.parts.map(({ path, samples, bytes: size }) => [
        shownName(path),
        count(samples),
        bytes(size),
      ]),
      MOST_LISTED,
    ),
  );
}
