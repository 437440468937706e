/** Tables with a heading. */
import { type Child, element } from "../dom.ts";
import { count } from "../text.ts";

/** Creates a titled table; `null` without rows. Rows after the first `most` are only counted. */
export function recordsSection(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  most = Infinity,
): HTMLElement | null {
  if (rows.length === 0) return null;
  const line = (name: "th" | "td", texts: readonly Child[]) =>
    element("tr", {}, ...texts.map((text) => element(name, {}, text)));
  const left = rows.length - most;
  return element(
    "section",
    {},
    element("h3", {}, title),
    element(
      "div",
      { class: "records" },
      element(
        "table",
        { "aria-label": title },
        element("thead", {}, line("th", head)),
        element(
          "tbody",
          {},
          ...rows.slice(0, most).map((row) => line("td", row)),
        ),
      ),
    ),
    left > 0 ? element("p", { class: "note" }, `${count(left)} more`) : null,
  );
}
