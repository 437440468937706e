/** Views of text, CSV rows and hex bytes, page by page. */
import { problemOf } from "../api.ts";
import type {
  BytesValue,
  OtherEncoding,
  TableValue,
  TextValue,
} from "../../api/value_messages.ts";
import { button, element } from "../dom.ts";
import { bytes, count } from "../text.ts";

/** Adds a button that loads more, until everything is loaded. */
function growing(
  into: HTMLElement,
  text: string,
  more: () => Promise<boolean>,
): HTMLElement {
  const grower = button(text, () => {
    grower.disabled = true;
    more().then((hasMore) => {
      grower.disabled = false;
      if (!hasMore) grower.remove();
    }, (error: unknown) => {
      grower.replaceWith(
        problemOf(error),
      );
    });
  });
  into.append(grower);
  return into;
}

const ENCODING_NAMES: Readonly<Record<OtherEncoding, string>> = {
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "Windows-1252 (Latin-1)",
};

export function encodingNote(
  { encoding }: { readonly encoding?: OtherEncoding },
): HTMLElement | null {
  if (encoding === undefined) return null;
  const text = `Text in ${ENCODING_NAMES[encoding] ?? encoding}`;
  return element("p", { class: "note" }, text);
}

function reasonNote({ why }: TextValue | BytesValue): HTMLElement | null {
  return why === null ? null : element("p", { class: "note" }, why);
}

export function textView(
  value: TextValue,
  next: (offset: number) => Promise<TextValue | BytesValue>,
): HTMLElement {
  const pre = element("pre", {
    class: "text",
    tabindex: 0,
    role: "region",
    "aria-label": "Text",
  }, value.text);
  const view = element(
    "div",
    { class: "text-view" },
    reasonNote(value),
    encodingNote(value),
    pre,
  );
  if (value.text === "") {
    view.append(element("p", { class: "note" }, "The text is empty."));
  }
  let { end, encoding } = value;
  if (!value.isCut) return view;
  return growing(view, `Show more of ${bytes(value.size)}`, async () => {
    const page = await next(end);
    if (page.kind !== "text") {
      view.append(reasonNote(page) ?? "");
      return false;
    }
    if (page.encoding !== encoding) {
      encoding = page.encoding; // earlier pages were ASCII
      pre.before(encodingNote(page) ?? "");
    }
    pre.append(page.text);
    end = page.end;
    return page.isCut;
  });
}

/** Creates the view of a table. If further rows cannot be decoded, shows the reason. */
export function tableView(
  value: TableValue,
  next: (offset: number) => Promise<TableValue | TextValue | BytesValue>,
): HTMLElement {
  const body = element("tbody");
  let end = value.start;
  const add = ({ rows }: TableValue) => {
    for (const row of rows) {
      body.append(element(
        "tr",
        {},
        element("th", { scope: "row" }, count(end)),
        ...row.map((cell) => element("td", {}, cell)),
      ));
      end++;
    }
  };
  add(value);
  const head = value.columns.map((name) =>
    element("th", { scope: "col" }, name)
  );
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, element("th"), ...head)),
    body,
  );
  const place = element("div", {
    class: "records",
    tabindex: 0,
    role: "region",
    "aria-label": "Rows",
  }, table);
  const view = element(
    "div",
    { class: "table-view" },
    encodingNote(value),
    place,
  );
  if (!value.hasMore) return view;
  return growing(view, "Show more rows", async () => {
    const page = await next(end);
    if (page.kind !== "table") {
      view.append(reasonNote(page) ?? "");
      return false;
    }
    add(page);
    return page.hasMore;
  });
}

const LINE = 16;

export function hexLines(shown: Uint8Array, start: number): string {
  const lines: string[] = [];
  for (let at = 0; at < shown.length; at += LINE) {
    const line = [...shown.subarray(at, at + LINE)];
    const hex = line.map((byte) => byte.toString(16).padStart(2, "0"));
    const halves = [hex.slice(0, LINE / 2), hex.slice(LINE / 2)];
    const text = line.map((byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·"
    ).join("");
    const offset = (start + at).toString(16).padStart(8, "0");
    const columns = halves.map((half) =>
      half.join(" ").padEnd(LINE / 2 * 3 - 1)
    );
    lines.push(`${offset}  ${columns.join("  ")}  ${text}`);
  }
  return lines.join("\n");
}

/** Bytes shown at first, and added per step: limits the lines laid out at once. */
const HEX_STEP = 8192;

export function bytesView(
  value: BytesValue,
  next: (offset: number) => Promise<BytesValue>,
): HTMLElement {
  let [start, held] = [value.start, Uint8Array.fromBase64(value.base64)];
  let shown = start;
  const pre = element("pre", {
    class: "text hex",
    tabindex: 0,
    role: "region",
    "aria-label": "Bytes in hex",
  });
  const show = () => {
    const part = held.subarray(shown - start, shown - start + HEX_STEP);
    if (pre.hasChildNodes()) pre.append("\n");
    pre.append(hexLines(part, shown));
    shown += part.length;
    return shown < value.size && part.length > 0;
  };
  const view = element(
    "div",
    { class: "bytes-view" },
    reasonNote(value),
    value.size === 0
      ? element("p", { class: "note" }, "There are no bytes in it.")
      : pre,
  );
  if (value.size === 0 || !show()) return view;
  return growing(view, `Show more of ${bytes(value.size)}`, async () => {
    if (shown - start >= held.length) {
      const page = await next(shown);
      [start, held] = [page.start, Uint8Array.fromBase64(page.base64)];
    }
    return show();
  });
}
