/** Drawings of arrays: heat maps and pictures on a canvas, curves as SVG. */
import type { DisplayNumber } from "../../api/value_messages.ts";
import { element, svg } from "../dom.ts";
import { number, shapeText } from "../text.ts";
import {
  type Drawing,
  drawingsOf,
  type Drawn,
  numeric,
  pictureAxes,
  planesOf,
  rangeOf,
} from "./numbers.ts";

/** Viridis, by S. van der Walt and N. Smith (CC0): perceptually uniform, and safe for colour blindness. */
const COLOURS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const;

/** RGB colours of a heat map, from the least number to the greatest. */
const LEVELS = 1024;
const HEAT = Uint8Array.from({ length: 3 * LEVELS }, (_, i) => {
  const at = Math.floor(i / 3) / (LEVELS - 1) * (COLOURS.length - 1);
  const below = Math.min(COLOURS.length - 2, Math.floor(at));
  const [from, to] = [COLOURS[below]![i % 3]!, COLOURS[below + 1]![i % 3]!];
  return Math.round(from + (to - from) * (at - below));
});

function canvasOf(
  width: number,
  height: number,
  label: string,
  paint: (pixels: Uint8ClampedArray) => void,
): HTMLCanvasElement {
  const made = element("canvas", {
    class: "pixels",
    width,
    height,
    role: "img",
    "aria-label": label,
  });
  const context = made.getContext("2d")!;
  const image = context.createImageData(width, height);
  paint(image.data);
  context.putImageData(image, 0, 0);
  return made;
}

/** Draws a heat map of one plane. Elements that are not finite are transparent. */
function heatMap(drawn: Drawn, plane: number): HTMLElement {
  const { shape, dtype, data, range } = drawn;
  const { rows, columns } = planesOf(shape);
  const [min, max] = range ?? rangeOf(data) ?? [0, 0];
  const label = `Heat map of ${shapeText(shape)} ${dtype}, from ${
    number(min)
  } to ${number(max)}`;
  return canvasOf(columns, rows, label, (pixels) => {
    const start = plane * rows * columns;
    for (let i = 0; i < rows * columns; i++) {
      const value = numeric(data[start + i] ?? null);
      if (!Number.isFinite(value)) continue;
      // Halved, because the difference of the largest numbers overflows.
      const part = max === min
        ? 0.5
        : (value / 2 - min / 2) / (max / 2 - min / 2);
      const level = 3 * Math.round(part * (LEVELS - 1));
      for (let channel = 0; channel < 3; channel++) {
        pixels[4 * i + channel] = HEAT[level + channel]!;
      }
      pixels[4 * i + 3] = 255;
    }
  });
}

function picture(drawn: Drawn, index: number): HTMLElement {
  const { shape, dtype, data, range } = drawn;
  const { height, width, channels, isFirst } = pictureAxes(shape)!;
  const start = index * height * width * channels;
  const [min, max] = range ?? rangeOf(data) ?? [0, 1];
  const [from, to] = dtype === "uint8"
    ? [0, 255]
    : min >= 0 && max <= 1
    ? [0, 1]
    : [min, max];
  const byte = (at: number): number =>
    255 * (numeric(data[start + at] ?? null) / 2 - from / 2) /
    (to / 2 - from / 2 || 1);
  const label = `Picture of ${shapeText(shape)} ${dtype}`;
  return canvasOf(width, height, label, (pixels) => {
    for (let i = 0; i < width * height; i++) {
      for (let channel = 0; channel < 4; channel++) {
        const of = channels === 1 && channel < 3 ? 0 : channel;
        pixels[4 * i + channel] = of >= channels
          ? 255
          : byte(isFirst ? of * width * height + i : i * channels + of);
      }
    }
  });
}

/** Draws a curve of one-dimensional numbers, from left to right. */
export function curve(
  data: ArrayLike<DisplayNumber>,
  label: string,
): SVGSVGElement {
  const [width, height, margin] = [640, 200, 6];
  const [min, max] = rangeOf(data) ?? [0, 0];
  const x = (i: number) =>
    margin + i / Math.max(1, data.length - 1) * (width - 2 * margin);
  const y = (value: number) =>
    height - margin -
    (max === min ? 0.5 : (value - min) / (max - min)) * (height - 2 * margin);
  let line = "";
  let dots = "";
  const isNumber = (i: number) => Number.isFinite(numeric(data[i] ?? null));
  for (let i = 0; i < data.length; i++) {
    if (!isNumber(i)) continue;
    const at = `${x(i).toFixed(2)} ${y(numeric(data[i]!)).toFixed(2)}`;
    if (isNumber(i - 1)) line += `L${at}`;
    else if (isNumber(i + 1)) line += `M${at}`;
    else dots += `M${at}h0`; // isolated point
  }
  const isCrossed = min < 0 && max > 0;
  return svg(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    isCrossed ? svg("path", { class: "zero", d: `M0 ${y(0)}H${width}` }) : null,
    svg("path", { class: "line", d: line }),
    svg("path", { class: "dots", d: dots }),
  );
}

export function drawArray(
  drawn: Drawn,
  drawing: Exclude<Drawing, "numbers">,
  plane = 0,
): Element {
  if (drawing === "picture") return picture(drawn, plane);
  if (drawing === "map") return heatMap(drawn, plane);
  const [min, max] = rangeOf(drawn.data) ?? [0, 0];
  const label = `Curve of ${shapeText(drawn.shape)} ${drawn.dtype}, from ${
    number(min)
  } to ${number(max)}`;
  return curve(drawn.data, label);
}

/** Draws a thumbnail of an array in its best form; `null` if it has no numbers to draw. */
export function smallDrawing(drawn: Drawn): Element | null {
  const [best] = drawingsOf(drawn);
  return best === undefined || best === "numbers"
    ? null
    : drawArray(drawn, best);
}
