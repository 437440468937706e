/** An array: what it is, a drawing of it, its numbers, and how they are spread. */
import type { ArraysValue, ArrayValue } from "../../api/value_messages.ts";
import { Choice, element } from "../dom.ts";
import { histogram } from "../plots/histogram.ts";
import { count, number, shapeText } from "../text.ts";
import { drawArray } from "./array_drawing.ts";
import {
  type Drawing,
  drawingsOf,
  drawnOf,
  numberText,
  planeIndices,
  planesOf,
} from "./numbers.ts";

const NAMES: Record<Drawing, string> = {
  picture: "Picture",
  map: "Heat map",
  curve: "Curve",
  numbers: "Numbers",
};

/** Rows and columns of numbers that are shown. */
const MOST_ROWS = 200;
const MOST_COLUMNS = 64;

/** Largest size of a drawing, in pixels, and where it is one among others. */
const ROOM = { width: 720, height: 440 };
const SMALL_ROOM = { width: 310, height: 200 };

/**
 * Shows an array.
 *
 * @param isSmall Whether it is one of the values of a datapoint: how its numbers are spread is left out.
 */
export function arrayView(value: ArrayValue, isSmall = false): HTMLElement {
  if (value.shape.length === 0) {
    return element("section", { class: "array" }, facts(value));
  }
  const drawn = drawnOf(value);
  const drawings = drawingsOf(drawn);
  const place = element("div", { class: "drawing" });
  const said = element("output", { class: "pointed" });
  const { planes } = planesOf(value.shownShape);
  let drawing = drawings[0]!;
  let plane = 0;
  const slider = element("input", {
    type: "range",
    min: 0,
    max: planes - 1,
    value: 0,
    "aria-label": "Plane",
    input: () => {
      plane = slider.valueAsNumber;
      show();
    },
  });
  const where = element("output");
  const planeChoice = element(
    "label",
    { class: "plane" },
    "Plane ",
    slider,
    where,
  );
  const show = () => {
    const hasPlanes = planes > 1 && drawing !== "picture" &&
      drawing !== "curve";
    planeChoice.hidden = !hasPlanes;
    where.textContent = `[${
      planeIndices(value.shownShape, plane).map((index, axis) =>
        index * (value.steps[axis] ?? 1)
      ).join(", ")
    }]`;
    said.textContent = "";
    place.replaceChildren(
      drawing === "numbers"
        ? numbersTable(value, plane)
        : sized(drawArray(drawn, drawing, plane), isSmall ? SMALL_ROOM : ROOM),
    );
  };
  if (drawings.includes("map")) {
    place.addEventListener("pointermove", (event) => {
      said.textContent = drawing === "map"
        ? pointedAt(event, value, plane)
        : "";
    });
  }
  show();
  const choice = new Choice(
    "Drawing",
    drawings.map((each) => [each, NAMES[each]] as const),
    drawing,
    (chosen) => {
      drawing = chosen;
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
  const isThinned = value.steps.some((step) => step > 1);
  return element(
    "section",
    { class: "array" },
    facts(value),
    isThinned
      ? element(
        "p",
        { class: "note" },
        `Drawn by every ${value.steps.map(count).join(" × ")}th element: ${
          shapeText(value.shownShape)
        } of ${shapeText(value.shape)}.`,
      )
      : null,
    tools,
    place,
    value.histogram === null || isSmall ? null : histogram(value.histogram, {
      label: "How the values are spread",
      one: "value",
      text: number,
    }),
  );
}

/** Shows arrays that stand together under names. */
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
    // A single number is its own least, greatest and mean.
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

/** Enlarges a drawing by a whole number of times, as far as there is room. */
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
  value: ArrayValue,
  plane: number,
): string {
  const { target } = event;
  if (!(target instanceof HTMLCanvasElement)) return "";
  const { rows, columns } = planesOf(value.shownShape);
  const box = target.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * columns);
  const row = Math.floor((event.clientY - box.top) / box.height * rows);
  const shown = value.data[(plane * rows + row) * columns + column];
  if (shown === undefined || column < 0 || column >= columns) return "";
  const axes = value.shownShape.length;
  const indices = [...planeIndices(value.shownShape, plane), row, column]
    .slice(-axes).map((index, axis) => index * (value.steps[axis] ?? 1));
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
