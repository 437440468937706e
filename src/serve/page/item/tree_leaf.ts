/** Views of scalar values in a tree, one line each; long ones load on demand. */
import { problemOf } from "../api.ts";
import type { Display, DisplayNumber } from "../../api/value_messages.ts";
import { button, element } from "../dom.ts";
import { bytes, count, shapeText } from "../text.ts";
import { smallDrawing } from "./array_drawing.ts";
import { markerOf, numberText } from "./numbers.ts";
import { bytesView } from "./text.ts";

/** Requests part of a tree, from an entry, character, byte or number of a value on. */
export type AskPart = (part: string, from: number) => Promise<Display>;

export interface TreePlace {
  /** Path for `api/value`, such as `0.12`. */
  readonly part: string;
  /** `undefined` if parts cannot be requested. */
  readonly ask: AskPart | undefined;
}

/** Location of a stand-alone value, which requests no parts. */
export const NOWHERE: TreePlace = { part: "", ask: undefined };

/** Bytes and numbers shown of a value among others. */
const SHORT = 16;

/** Creates a button that loads more, and shows errors. */
export function askingButton(
  text: string,
  run: () => Promise<void>,
): HTMLElement {
  const problem = element("span");
  const asker = button(text, () => {
    asker.disabled = true;
    problem.replaceChildren();
    run().catch((error: unknown) => {
      asker.disabled = false;
      problem.replaceChildren(problemOf(error));
    });
  });
  return element("span", { class: "more" }, asker, problem);
}

/** Creates the view of a scalar value; `null` for other values. */
export function leaf(value: Display, place: TreePlace): HTMLElement | null {
  if (value === null) return element("span", { class: "constant" }, "null");
  switch (typeof value) {
    case "string":
      return element("span", { class: "string" }, JSON.stringify(value));
    case "number":
      return element("span", { class: "number" }, String(value));
    case "boolean":
      return element("span", { class: "constant" }, String(value));
  }
  const marker = markerOf(value);
  switch (marker?.$) {
    case "integer":
    case "float":
      return element("span", { class: "number" }, textIn(value));
    case "bytes":
      return bytesLeaf(value, place);
    case "array":
      return arrayLeaf(
        marker.shape as readonly number[],
        String(marker.dtype),
        marker.data as readonly DisplayNumber[],
        place,
      );
    case "deep":
      return element("span", { class: "size" }, "… it is in itself");
    case "cut":
      return textLeaf(marker.shown ?? "", Number(marker.length), place);
    case "other":
      return element(
        "span",
        { class: "size" },
        `${marker.type} ${marker.text}`,
        marker.content === undefined ? null : bytesLeaf(marker.content, place),
      );
    default:
      return null;
  }
}

function textIn(value: Display): string {
  if (typeof value === "string") return value;
  const marker = markerOf(value);
  return marker?.$ === "cut"
    ? textIn(marker.shown ?? "")
    : String(marker?.digits ?? marker?.text ?? "");
}

function textLeaf(
  shown: Display,
  length: number,
  { part, ask }: TreePlace,
): HTMLElement {
  const isText = typeof shown === "string";
  let text = textIn(shown);
  const words = element("span", { class: isText ? "string" : "number" });
  const said = element("span");
  const show = () => {
    const left = length - text.length;
    words.textContent = `${isText ? JSON.stringify(text) : text}${
      left > 0 ? "…" : ""
    }`;
    said.replaceChildren(
      left <= 0 ? "" : ask === undefined ? ` (${count(length)})` : askingButton(
        `Show more: ${count(left)} characters left`,
        async () => {
          const more = textIn(await ask(part, text.length));
          text += more;
          if (more === "") length = text.length; // the file has changed
          show();
        },
      ),
    );
  };
  show();
  return element("span", {}, words, said);
}

function bytesLeaf(value: Display, { part, ask }: TreePlace): HTMLElement {
  const { size, base64 } = bytesIn(value);
  const head = Uint8Array.fromBase64(base64).subarray(0, SHORT);
  const hex = [...head].map((byte) => byte.toString(16).padStart(2, "0"));
  const isCut = size > head.length;
  const line = element(
    "span",
    { class: "bytes" },
    `bytes (${bytes(size)}) ${hex.join(" ")}${isCut ? " …" : ""}`,
  );
  if (!isCut || ask === undefined) return line;
  const page = async (start: number) => {
    const { base64 } = bytesIn(await ask(part, start));
    return { kind: "bytes", base64, start, size, why: null } as const;
  };
  const more = askingButton(
    `Show more: ${bytes(size - head.length)} left`,
    async () => more.replaceWith(bytesView(await page(0), page)),
  );
  return element("span", {}, line, more);
}

/** Returns the marker of bytes; for an extension, that of its content. */
function bytesIn(value: Display): { size: number; base64: string } {
  const marker = markerOf(value);
  return marker?.content === undefined
    ? { size: Number(marker?.size ?? 0), base64: String(marker?.base64 ?? "") }
    : bytesIn(marker.content);
}

function arrayLeaf(
  shape: readonly number[],
  dtype: string,
  data: readonly DisplayNumber[],
  { part, ask }: TreePlace,
): HTMLElement {
  const length = shape.reduce((all, size) => all * size, 1);
  const drawing = data.length === length && length > SHORT
    ? smallDrawing({ shape, dtype, data })
    : null;
  const numbers = element("span");
  const said = element("span");
  let shown = 0;
  const show = (more: readonly DisplayNumber[]) => {
    const words = more.map(numberText).join(", ");
    numbers.append(shown > 0 && words !== "" ? `, ${words}` : words);
    shown += more.length;
    const left = more.length === 0 ? 0 : length - shown;
    said.replaceChildren(
      left <= 0
        ? "]"
        : ask === undefined
        ? ", …]"
        : askingButton(`Show more: ${count(left)} numbers left`, async () => {
          show(numbersIn(await ask(part, shown)));
        }),
    );
  };
  show(data.slice(0, SHORT));
  return element(
    "span",
    { class: "array-leaf" },
    `array ${shapeText(shape)} ${dtype} `,
    drawing,
    "[",
    numbers,
    said,
  );
}

function numbersIn(value: Display): readonly DisplayNumber[] {
  return (markerOf(value)?.data ?? []) as readonly DisplayNumber[];
}
