/** View of a directory's statistics, updated while they are counted. */
import type { Statistics, StatisticsLine } from "../../api/messages.ts";
import { isAbort, lines, problemOf } from "../api.ts";
import { element } from "../dom.ts";
import { KIND_NAMES } from "../listing/tiles.ts";
import { bars, histogram } from "../plots/histogram.ts";
import { type CountedSize, scatter } from "../plots/scatter.ts";
import { decodedPart, type Route } from "../route.ts";
import { bytes, count, shownKey, shownName } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { LoadingBar } from "./loading_bar.ts";
import { recordsSection } from "./records.ts";

/** Bars of a label: up to `ALL_BARS` values are all shown, of more only the first. */
const ALL_BARS = 30;
const FIRST_BARS = 12;

/** Interval of redrawing plots, in milliseconds. */
const DRAW_MS = 300;

export function statisticsView(route: Route, { signal }: Scene): View {
  const controller = new AbortController();
  const either = AbortSignal.any([signal, controller.signal]);
  const progress = new LoadingBar("Counting", () => controller.abort());
  const place = element("div", { class: "plots" });
  let drawnAt = -Infinity;
  const draw = (statistics: Statistics) => {
    drawnAt = performance.now();
    place.replaceChildren(...plots(statistics));
  };
  const run = async () => {
    let latest: Statistics | undefined;
    try {
      const query = { path: route.url };
      for await (
        const line of lines<StatisticsLine>("statistics", query, either)
      ) {
        latest = line;
        progress.show(line.done, line.total, `${count(line.done)} entries`);
        const isDue = performance.now() - drawnAt > DRAW_MS;
        if (isDue || line.isComplete) draw(line);
      }
      progress.end(`${count(latest?.done ?? 0)} entries counted`);
    } catch (error) {
      if (signal.aborted) return;
      if (latest !== undefined) draw(latest);
      if (isAbort(error)) {
        progress.end(`Cancelled after ${count(latest?.done ?? 0)} entries`);
      } else {
        progress.end("Not all could be counted");
        place.prepend(problemOf(error));
      }
    }
  };
  void run();
  const name = route.url === ""
    ? ""
    : ` of ${shownName(decodedPart(route.url))}`;
  return {
    element: element(
      "section",
      { class: "page statistics" },
      element("div", { class: "bar" }, element("h2", {}, `Statistics${name}`)),
      progress.element,
      place,
    ),
    title: "Statistics",
    keys: [{
      key: "Escape",
      says: "Back to the directory",
      run: () => location.hash = `#/${route.url}`,
    }],
  };
}

function plots(statistics: Statistics): Element[] {
  const { dimensions, framesPerClip, kinds, keys, labels, samples, sizes } =
    statistics;
  const all: (Element | null)[] = [
    numbers(statistics),
    kinds.length === 0 ? null : bars(
      "Kinds",
      kinds.map((kind) => ({ name: KIND_NAMES[kind.kind], count: kind.count })),
    ),
    isEmpty(sizes) ? null : histogram(sizes, {
      label: "Sizes of files",
      one: "file",
      text: bytes,
    }),
    ...labels.map((label) => labelPlot(label, samples)),
    framesPerClip === null || isEmpty(framesPerClip)
      ? null
      : histogram(framesPerClip, {
        label: "Frames a clip",
        one: "clip",
        text: count,
      }),
  ];
  if (dimensions !== null && dimensions.sizes.length > 0) {
    const { looked, pictures } = dimensions;
    const label = `Sizes of pictures${lookedAt(looked, pictures)}`;
    if (dimensions.sizes.length === 1) {
      const [{ width, height, count }] = dimensions.sizes as [CountedSize];
      all.push(bars(label, [{ name: `${width} × ${height}`, count }]));
      return present(all, keys);
    }
    all.push(scatter(label, dimensions.sizes));
    all.push(histogram(dimensions.widths, {
      label: "Widths of pictures",
      one: "picture",
      text: count,
    }));
    all.push(histogram(dimensions.heights, {
      label: "Heights of pictures",
      one: "picture",
      text: count,
    }));
  }
  return present(all, keys);
}

function present(
  plots: readonly (Element | null)[],
  keys: Statistics["keys"],
): Element[] {
  const table = recordsSection(
    "Keys",
    ["Key", "Type", "Values", "Bytes"],
    keys.map(({ key, type, values, bytes: size }) => [
      shownKey(key),
      type,
      count(values),
      bytes(size),
    ]),
  );
  return [...plots, table].filter((plot) => plot !== null);
}

function lookedAt(looked: number, total: number): string {
  return looked < total
    ? ` (${count(looked)} of ${count(total)} looked at)`
    : "";
}

function labelPlot(
  { label, values, different }: Statistics["labels"][number],
  { looked, total }: Statistics["samples"],
): HTMLElement {
  const isEachOnce = different > 1 && values[0]?.count === 1;
  const most = isEachOnce ? 0 : different > ALL_BARS ? FIRST_BARS : ALL_BARS;
  const note = isEachOnce
    ? `${count(different)} values, each of them once.`
    : `The ${most} most frequent of ${count(different)} values.`;
  return bars(
    `Label: ${shownName(label)}${lookedAt(looked, total)}`,
    values.slice(0, most).map(({ value, count }) => ({
      // A null and an empty text are marked as placeholders.
      name: value === null ? "null" : shownKey(value),
      isWord: value !== null && value !== "",
      count,
    })),
    different > most ? note : null,
  );
}

function isEmpty({ counts }: { readonly counts: readonly number[] }): boolean {
  return counts.every((value) => value === 0);
}

function numbers(
  { bytes: size, damaged, directories, files }: Statistics,
): HTMLElement {
  const pairs: readonly (readonly [string, string])[] = [
    ["Files", count(files)],
    ["Directories", count(directories)],
    ["Bytes", bytes(size)],
    ["Bytes per file", files === 0 ? "–" : bytes(size / files)],
    ...(damaged === 0 ? [] : [["Damaged", count(damaged)] as const]),
  ];
  return element(
    "dl",
    { class: "facts-row" },
    ...pairs.map(([name, text]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, text))
    ),
  );
}
