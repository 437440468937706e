/** Icons of 16 × 16 for kinds of entries and for buttons, in the text colour. */
import type { Kind } from "../api/messages.ts";
import { svg } from "./dom.ts";

const FILE = "M4 1.5h5.5L13 5v9.5H4z M9.5 1.5V5H13";

const LINES = {
  directory: "M1.5 4.5V13h13V5H8L6.5 3.5h-5z",
  clip:
    "M1.5 3h13v10h-13z M4.5 3v10 M11.5 3v10 M1.5 6.3h3 M1.5 9.6h3 M11.5 6.3h3 M11.5 9.6h3",
  datapoint: "M1.5 2.5h13v11h-13z M1.5 6h13 M6 2.5v11",
  image: "M1.5 2.5h13v11h-13z M1.5 11l3.5-3.5 3 3 2-2 4.5 4 M10.5 5.5h.01",
  svg:
    "M2.5 11.500C5 3 11 3 13.5 11.500 M1.5 12.500h2 M12.5 12.500h2 M7 4.500h2 M2.500 4.500H7 M9 4.500h4.500",
  video: "M1.5 3h13v10h-13z M6.5 5.5v5l4-2.5z",
  audio:
    "M6 12.5V3.5l7-1.5v8.5 M6 12.5a2 1.7 0 1 1-4 0 2 1.7 0 0 1 4 0z M13 10.500a2 1.7 0 1 1-4 0 2 1.7 0 0 1 4 0z",
  text: `${FILE} M6 8h5 M6 10.5h5`,
  json:
    "M6 2C3.5 2 5.5 7 2.5 8 5.5 9 3.5 14 6 14 M10 2c2.5 0 .5 5 3.5 6-3 1-1 6-3.5 6",
  csv: `${FILE} M6 8h5v4H6z M8.5 8v4 M6 10h5`,
  array:
    "M3.5 2H2v12h1.5 M12.5 2H14v12h-1.5 M5.5 5.500h.01 M8 5.500h.01 M10.5 5.500h.01 M5.5 8h.01 M8 8h.01 M10.5 8h.01 M5.5 10.500h.01 M8 10.500h.01 M10.5 10.500h.01",
  pickle:
    "M3 8a5 5 0 0 1 10 0c0 3.5-2 6.5-5 6.500S3 11.5 3 8z M6.5 7h.01 M9.5 9h.01 M7 11.500h.01",
  msgpack: "M2 5l6-3 6 3v6l-6 3-6-3z M2 5l6 3 6-3 M8 8v6",
  html: "M5 4L1.5 8 5 12 M11 4l3.5 4L11 12 M9.5 3l-3 10",
  pdf: `${FILE} M6 12c2-1 3-3 2.5-5 0 2 1 3 2.5 3.5-2-.3-3.5 0-5 1.500z`,
  binary: `${FILE} M6.5 8.500v3 M9.5 8.500v3`,
  search: "M7 2.500a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z M10.5 10.500L14 14",
  back: "M10 3L5 8l5 5",
  forward: "M6 3l5 5-5 5",
  play: "M5 3v10l8-5z",
  pause: "M5.5 3v10 M10.5 3v10",
} as const satisfies Record<Kind, string> & Record<string, string>;

export type IconName = keyof typeof LINES;

/** Cached icons: cloning is cheaper than creating. */
const made = new Map<IconName, SVGSVGElement>();

/** Returns an icon. It is hidden from screen readers, because the text next to it says the same. */
export function icon(name: IconName): Node {
  let drawing = made.get(name);
  if (drawing === undefined) made.set(name, drawing = draw(name));
  return drawing.cloneNode(true);
}

function draw(name: IconName): SVGSVGElement {
  const path = svg("path", { d: LINES[name] });
  const attributes = {
    class: `icon icon-${name}`,
    viewBox: "0 0 16 16",
    "aria-hidden": "true",
  };
  return svg("svg", attributes, path);
}
