/** View of an array: properties, a drawing, its numbers, and their distribution. */
import type { ArraysValue, ArrayValue } from "../../api/value_messages.ts";
import { messageOf } from "../api.ts";
import { Choice, element, problemLine, setAttribute } from "../dom.ts";
import { histogram } from "../plots/histogram.ts";
import { count, number, shapeText } from "../text.ts";
import { drawArray } from "./array_drawing.ts";
import { ArrayParts, type AskPart, MOST_DRAWN } from "./array_parts.ts";
import {
  type Drawing,
  drawingsOf,
  type Drawn,
  drawnOf,
  numberText,
  pictureAxes,
  planeIndices,
  planesOf,
} from "./numbers.ts";

const NAMES: Record<Drawing, string> = {
  picture: "Picture",
  map: "Heat map",
  curve: "Curve",
  numbers: "Numbers",
};

/** Maximum rows and columns of numbers shown. */
const MOST_ROWS = 200;
const MOST_COLUMNS = 64;

/** Maximum elements drawn in full for an array among others. */
const MOST_DRAWN_SMALL = 1 << 20;

const MOST_EDGE = 16_384;

/** Maximum size of a drawing, in pixels, and that of one among others. */
const ROOM = { width: 720, height: 440 };
const SMALL_ROOM = { width: 310, height: 200 };

/** Plane or picture of an array, loaded in full. */
interface Plane extends Drawn {
  /** Index of the plane's first element in the array. */
  readonly start: number;
}

/**
 * Creates the view of an array.
 *
 * @param isSmall Whether it is one of a datapoint's values: omits the histogram.
 * @param ask Requests parts, if it is too large to be sent at once.
 */
export function arrayView(
  value: ArrayValue,
  isSmall = false,
  ask?: AskPart,
): HTMLElement {
  if (value.shape.length === 0) {
    return element("section", { class: "array" }, facts(value));
  }
  const drawn = drawnOf(value);
  const largest = isSmall ? MOST_DRAWN_SMALL : MOST_DRAWN;
  const drawings = drawingsOf({ ...drawn, shape: value.shape }).filter((way) =>
    way !== "picture" || areSamePictures(value) ||
    ask && fullPlane(value, way, largest)
  );
  const place = element("div", { class: "drawing" });
  const said = element("output", { class: "pointed" });
  const note = element("p", { class: "note" });
  const isThinned = value.steps.some((step) => step > 1);
  const parts = isThinned && ask !== undefined
    ? new ArrayParts(ask)
    : undefined;
  let drawing = drawings[0]!;
  let index = 0;
  let plane: Plane | undefined;
  const slider = element("input", {
    type: "range",
    min: 0,
    value: 0,
    input: () => {
      index = slider.valueAsNumber;
      show();
    },
  });
  const where = element("output");
  const what = element("span");
  const planeChoice = element(
    "label",
    { class: "plane" },
    what,
    slider,
    where,
  );
  const draw = (drawn: Drawn, at: number, isFull: boolean) => {
    note.hidden = isFull || !isThinned;
    place.replaceChildren(
      drawing === "numbers"
        ? numbersTable(value, at)
        : sized(drawArray(drawn, drawing, at), isSmall ? SMALL_ROOM : ROOM),
    );
  };
  let latest = 0;
  const show = () => {
    const turn = ++latest;
    plane = undefined;
    const full = parts && fullPlane(value, drawing, largest);
    const shape = full ? value.shape : value.shownShape;
    const count = full?.count ?? planeCount(shape, drawing);
    index = Math.min(index, Math.max(0, count - 1));
    slider.max = String(Math.max(0, count - 1));
    slider.valueAsNumber = index;
    planeChoice.hidden = count <= 1;
    const isPicture = drawing === "picture";
    what.textContent = isPicture ? "Picture " : "Plane ";
    setAttribute(slider, "aria-label", isPicture ? "Picture" : "Plane");
    const steps = full ? [] : value.steps;
    where.textContent = isPicture
      ? `${index * (steps[0] ?? 1) + 1} of ${value.shape[0]}`
      : `[${
        planeIndices(shape, index).map((at, axis) => at * (steps[axis] ?? 1))
          .join(", ")
      }]`;
    said.textContent = "";
    if (!full) return draw(drawn, index, false);
    const { shape: planeShape, size } = full;
    const isFirst = place.childElementCount === 0 && index === 0;
    if (drawing === "map" && isFirst) draw(drawn, 0, false); // until it is loaded in full
    place.setAttribute("aria-busy", "true");
    const start = index * size;
    parts!.load(start, size).then((data) => {
      if (turn !== latest) return;
      const { dtype } = value;
      plane = { shape: planeShape, dtype, data, range: drawn.range, start };
      draw(plane, 0, true);
    }).catch((error: unknown) => {
      if (turn === latest) place.replaceChildren(problemLine(messageOf(error)));
    }).finally(() => {
      if (turn === latest) place.removeAttribute("aria-busy");
    });
  };
  if (drawings.includes("map")) {
    place.addEventListener("pointermove", (event) => {
      said.textContent = drawing !== "map"
        ? ""
        : plane === undefined
        ? pointedAt(event, drawn, index, value.steps)
        : pointedAt(event, plane, 0, [], planeIndices(value.shape, index));
    });
  }
  note.textContent = `Drawn by every ${
    value.steps.map(count).join(" × ")
  }th element: ${shapeText(value.shownShape)} of ${shapeText(value.shape)}.`;
  show();
  const choice = new Choice(
    "Drawing",
    drawings.map((each) => [each, NAMES[each]] as const),
    drawing,
    (chosen) => {
      drawing = chosen;
      place.replaceChildren();
      show();
    },
  );
  const tools = element(
    "div",
    { class: "tools" },
    drawings.length > 1 ? choice.element : null,
    planeChoice,
    said,
  );
  // There is nothing to choose or to point at.
  tools.hidden = drawing === "numbers" && drawings.length === 1 &&
    planeChoice.hidden;
  return element(
    "section",
    { class: "array" },
    facts(value),
    note,
    tools,
    place,
    value.histogram === null || isSmall ? null : histogram(value.histogram, {
      label: "Distribution of values",
      one: "value",
      text: number,
    }),
  );
}

function planeCount(shape: readonly number[], drawing: Drawing): number {
  if (drawing === "picture") return pictureAxes(shape)?.count ?? 0;
  return drawing === "curve" ? 1 : planesOf(shape).planes;
}

/** Whether skipping rows and columns leaves the same pictures, only smaller. */
function areSamePictures({ shape, shownShape }: ArrayValue): boolean {
  const [whole, shown] = [pictureAxes(shape), pictureAxes(shownShape)];
  return shown?.channels === whole?.channels &&
    shown?.isFirst === whole?.isFirst &&
    (shown?.count === 1) === (whole?.count === 1);
}

/** Returns the plane to load and draw in full; `undefined` if it is too large, or its type has no parts. */
function fullPlane(
  { shape, dtype, min }: ArrayValue,
  drawing: Drawing,
  largest: number,
): { count: number; size: number; shape: readonly number[] } | undefined {
  if (drawing !== "picture" && drawing !== "map" || min === null) {
    return undefined;
  }
  if (!/^(?:bool|u?int|float)/.test(dtype)) return undefined;
  const count = planeCount(shape, drawing);
  const size = shape.reduce((all, length) => all * length, 1) / count;
  const ofPlane = drawing === "picture" && count === 1 && shape.length < 4
    ? shape
    : shape.slice(drawing === "map" ? -2 : 1);
  const { height, width } = drawing === "map"
    ? { height: planesOf(shape).rows, width: planesOf(shape).columns }
    : pictureAxes(shape)!;
  const isDrawn = size <= largest && Math.max(height, width) <= MOST_EDGE;
  return isDrawn ? { count, size, shape: ofPlane } : undefined;
}

export function arraysView({ arrays, length }: ArraysValue): HTMLElement {
  return element(
    "div",
    { class: "arrays" },
    ...arrays.map(({ name, array }) =>
      element("section", {}, element("h3", {}, name), arrayView(array))
    ),
    length > arrays.length
      ? element("p", { class: "note" }, `${count(length - arrays.length)} more`)
      : null,
  );
}

function facts(value: ArrayValue): HTMLElement {
  const pairs: readonly (readonly [string, string | null])[] = [
    ["Shape", shapeText(value.shape)],
    ["Type", value.dtype],
    // For a single number, min, max and mean would be the number itself.
    ...(value.shape.length === 0
      ? [["Value", numberText(value.data[0] ?? null)] as const]
      : ([["Min", value.min], ["Max", value.max], [
        "Mean",
        value.mean,
      ]] as const)
        .map(([name, of]) => [name, of === null ? null : number(of)] as const)),
    ["Not finite", value.notFinite === 0 ? null : count(value.notFinite)],
  ];
  return element(
    "dl",
    { class: "facts-row" },
    ...pairs.flatMap(([name, text]) =>
      text === null
        ? []
        : [element("div", {}, element("dt", {}, name), element("dd", {}, text))]
    ),
  );
}

/** Enlarges a drawing by an integer factor, as far as it fits. */
function sized(drawing: Element, room: typeof ROOM): Element {
  if (drawing instanceof HTMLCanvasElement) {
    const { width, height } = drawing;
    const times = Math.min(room.width / width, room.height / height, 48);
    const scale = times >= 1 ? Math.floor(times) : times;
    drawing.style.width = `${Math.max(1, Math.round(width * scale))}px`;
    drawing.style.aspectRatio = `${width} / ${height}`;
  }
  return drawing;
}

function pointedAt(
  event: PointerEvent,
  { shape, data }: Drawn,
  plane: number,
  steps: readonly number[],
  leading = planeIndices(shape, plane),
): string {
  const { target } = event;
  if (!(target instanceof HTMLCanvasElement)) return "";
  const { rows, columns } = planesOf(shape);
  const box = target.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * columns);
  const row = Math.floor((event.clientY - box.top) / box.height * rows);
  const shown = data[(plane * rows + row) * columns + column];
  if (shown === undefined || column < 0 || column >= columns) return "";
  const axes = Math.min(2, shape.length);
  const indices = [...leading, ...[row, column].slice(-axes)]
    .map((index, axis) => index * (steps[axis] ?? 1));
  return `[${indices.join(", ")}] = ${numberText(shown)}`;
}

function numbersTable(value: ArrayValue, plane: number): HTMLElement {
  if (value.data.length === 0) {
    return element("p", { class: "note" }, "The array is empty.");
  }
  const { rows, columns } = planesOf(value.shownShape);
  const [down, across] = [
    Math.min(rows, MOST_ROWS),
    Math.min(columns, MOST_COLUMNS),
  ];
  const [rowStep, columnStep] = [
    value.steps.at(-2) ?? 1,
    value.steps.at(-1) ?? 1,
  ];
  const head = element(
    "tr",
    {},
    element("th"),
    ...Array.from(
      { length: across },
      (_, column) =>
        element("th", { scope: "col" }, String(column * columnStep)),
    ),
  );
  const body = Array.from({ length: down }, (_, row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, String(row * rowStep)),
      ...Array.from({ length: across }, (_, column) =>
        element(
          "td",
          {},
          numberText(
            value.data[(plane * rows + row) * columns + column] ?? null,
          ),
        )),
    ));
  const isCut = down < rows || across < columns;
  return element(
    "div",
    { class: "numbers", tabindex: 0, role: "region", "aria-label": "Numbers" },
    element(
      "table",
      {},
      element("thead", {}, head),
      element("tbody", {}, ...body),
    ),
    isCut
      ? element(
        "p",
        { class: "note" },
        `The first ${down} × ${across} of them.`,
      )
      : null,
  );
}
