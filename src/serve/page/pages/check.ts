/** View of the checksum verification. */
import type { CheckLine } from "../../api/messages.ts";
import { isAbort, lines, problemOf } from "../api.ts";
import { button, element } from "../dom.ts";
import type { Route } from "../route.ts";
import { bytes, count, counted, shownName } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { LoadingBar } from "./loading_bar.ts";

/** Maximum number of damages listed; all are counted. */
const MOST_LISTED = 500;

export function checkView(_route: Route, { info, signal }: Scene): View {
  const place = element("div", { class: "check" });
  const start = button("Check everything", () => {
    place.replaceChildren();
    void run(place, signal).finally(() => {
      start.textContent = "Check again";
      start.disabled = false;
    });
    start.disabled = true;
  }, { class: "button primary" });
  return {
    element: element(
      "section",
      { class: "page" },
      element("div", { class: "bar" }, element("h2", {}, "Check")),
      element(
        "p",
        { class: "note" },
        info.canCheck
          ? "Reads the whole container, and verifies its structure and every checksum it records."
          : "This container can't be checked here.",
      ),
      info.canCheck ? element("p", {}, start) : null,
      place,
    ),
    title: "Check",
    // It is started by the user, who can restart it.
    onBack: () => true,
    keys: [{
      key: "Escape",
      says: "Back to the container",
      run: () => location.hash = "#/",
    }],
  };
}

async function run(place: HTMLElement, signal: AbortSignal): Promise<void> {
  const controller = new AbortController();
  const either = AbortSignal.any([signal, controller.signal]);
  const progress = new LoadingBar("Checking", () => controller.abort());
  const list = element("ul", { class: "damages", "aria-label": "Damages" });
  place.append(progress.element, list);
  let damaged = 0;
  try {
    for await (const line of lines<CheckLine>("check", {}, either, "POST")) {
      if ("done" in line) {
        const { done, total } = line;
        const of = done <= total ? ` of ${bytes(total)}` : "";
        progress.show(done, total, `${bytes(done)}${of}`);
      } else if ("damage" in line) {
        if (++damaged <= MOST_LISTED) list.append(damageItem(line.damage));
      } else {
        const { samples, bytes: size, compares } = line.report;
        const sound = compares === "contents"
          ? "All is sound"
          : "The structure is sound; contents have no checksums";
        progress.end("");
        place.prepend(verdict(
          line.report.damaged === 0,
          line.report.damaged === 0
            ? `${sound}: ${counted(samples, "sample")}, ${bytes(size)}.`
            : `${counted(line.report.damaged, "damaged location")} in ${
              counted(samples, "sample")
            }, ${bytes(size)}.`,
        ));
      }
    }
    if (damaged > MOST_LISTED) {
      list.append(element("li", {}, `${count(damaged - MOST_LISTED)} more`));
    }
  } catch (error) {
    if (signal.aborted) return;
    progress.end(isAbort(error) ? "Cancelled" : "");
    if (!isAbort(error)) place.prepend(problemOf(error));
  }
}

function verdict(isSound: boolean, text: string): HTMLElement {
  return element("p", {
    class: `verdict ${isSound ? "sound" : "damaged"}`,
    role: "status",
  }, text);
}

function damageItem(
  { code, message, file }: {
    readonly code: string;
    readonly message: string;
    readonly file: string | null;
  },
): HTMLElement {
  return element(
    "li",
    {},
    element("code", {}, code),
    " ",
    message,
    file === null ? null : element("small", {}, shownName(file)),
  );
}
