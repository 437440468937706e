/** Histograms and bar charts, accessible to screen readers. */
import { element, svg } from "../dom.ts";
import { count, counted } from "../text.ts";

/** Counts of the bins between edges; there is one edge more than counts. */
export interface Bins {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

export interface HistogramOptions {
  readonly label: string;
  /** Singular of what is counted, such as `file`. */
  readonly one: string;
  text(edge: number): string;
}

const WIDTH = 640;
const HEIGHT = 160;

export function histogram(
  bins: Bins,
  { label, one, text }: HistogramOptions,
): HTMLElement {
  const { counts, edges } = trimmed(bins);
  const most = Math.max(1, ...counts);
  const width = WIDTH / Math.max(1, counts.length);
  const gap = Math.min(2, width / 5);
  const bars = counts.map((value, i) => {
    // Bars of non-empty bins are always visible.
    const height = value === 0 ? 0 : Math.max(2, value / most * HEIGHT);
    const said = `${text(edges[i]!)} to ${text(edges[i + 1]!)}: ${
      counted(value, one)
    }`;
    const place = {
      x: (i * width + gap / 2).toFixed(2),
      width: (width - gap).toFixed(2),
    };
    return svg(
      "g",
      {},
      svg("title", {}, said),
      svg("rect", { class: "hit", ...place, y: 0, height: HEIGHT }),
      svg("rect", {
        class: "bar",
        ...place,
        y: (HEIGHT - height).toFixed(2),
        height: height.toFixed(2),
      }),
    );
  });
  const [first, last] = [edges[0] ?? 0, edges.at(-1) ?? 0];
  const middle = edges[Math.floor(edges.length / 2)] ?? 0;
  return element(
    "figure",
    { class: "plot" },
    element(
      "figcaption",
      {},
      label,
      element("span", { class: "most" }, `highest bar: ${counted(most, one)}`),
    ),
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${label}: ${
          counted(counts.reduce((all, each) => all + each, 0), one)
        } from ${text(first)} to ${text(last)}`,
      },
      ...bars,
    ),
    element(
      "div",
      { class: "axis", "aria-hidden": "true" },
      ...[first, ...(edges.length > 3 ? [middle] : []), last].map((edge) =>
        element("span", {}, text(edge))
      ),
    ),
  );
}

function trimmed({ counts, edges }: Bins): Bins {
  const first = counts.findIndex((value) => value > 0);
  const last = counts.findLastIndex((value) => value > 0);
  return first < 0 ? { counts: [], edges: [] } : {
    counts: counts.slice(first, last + 1),
    edges: edges.slice(first, last + 2),
  };
}

export interface Bar {
  readonly name: string;
  /** False if the name is a placeholder, as for a null. */
  readonly isWord?: boolean;
  readonly count: number;
}

/** Draws a bar chart in the given order, as a table for screen readers. */
export function bars(
  label: string,
  all: readonly Bar[],
  note: string | null = null,
): HTMLElement {
  const most = Math.max(1, ...all.map((bar) => bar.count));
  return element(
    "figure",
    { class: "plot" },
    element("figcaption", {}, label),
    element(
      "table",
      { class: "bars", "aria-label": label },
      element(
        "tbody",
        {},
        ...all.map((bar) => {
          const drawn = element("span", { class: "bar" });
          drawn.style.width = `${Math.max(0.5, bar.count / most * 100)}%`;
          return element(
            "tr",
            {},
            element(
              "th",
              { scope: "row", title: bar.name },
              bar.isWord === false
                ? element("span", { class: "constant" }, bar.name)
                : bar.name,
            ),
            element("td", { class: "length" }, drawn),
            element("td", { class: "number" }, count(bar.count)),
          );
        }),
      ),
    ),
    note === null ? null : element("p", { class: "note" }, note),
  );
}
