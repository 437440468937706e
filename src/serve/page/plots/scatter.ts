/** Scatter plot of image sizes: width to the right, height upwards, frequency as the dot size. */
import { element, svg } from "../dom.ts";
import { count } from "../text.ts";

export interface CountedSize {
  readonly width: number;
  readonly height: number;
  readonly count: number;
}

const [WIDTH, HEIGHT] = [480, 320];
const MARGIN = 14;

export function scatter(
  label: string,
  sizes: readonly CountedSize[],
): HTMLElement {
  const widest = Math.max(1, ...sizes.map(({ width }) => width));
  const highest = Math.max(1, ...sizes.map(({ height }) => height));
  const most = Math.max(1, ...sizes.map((size) => size.count));
  const x = (width: number) => MARGIN + width / widest * (WIDTH - 2 * MARGIN);
  const y = (height: number) =>
    HEIGHT - MARGIN - height / highest * (HEIGHT - 2 * MARGIN);
  const dots = sizes.toReversed().map((size) =>
    svg(
      "circle",
      {
        class: "dot",
        cx: x(size.width).toFixed(1),
        cy: y(size.height).toFixed(1),
        r: (2.5 + 8 * Math.sqrt(size.count / most)).toFixed(1),
      },
      svg(
        "title",
        {},
        `${size.width} × ${size.height}: ${count(size.count)}`,
      ),
    )
  );
  return element(
    "figure",
    { class: "plot scatter" },
    element("figcaption", {}, label),
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${label}: ${count(sizes.length)} different, up to ${
          count(widest)
        } wide and ${count(highest)} high`,
      },
      svg("path", {
        class: "axes",
        d: `M${MARGIN} 4V${HEIGHT - MARGIN}H${WIDTH - 4}`,
      }),
      ...dots,
    ),
    element(
      "div",
      { class: "axis", "aria-hidden": "true" },
      element("span", {}, "0"),
      element("span", {}, `${count(widest)} wide, ${count(highest)} high`),
    ),
  );
}
