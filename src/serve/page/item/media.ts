/** Pictures, videos and audio, as the browser shows them. */
import { fileUrl } from "../api.ts";
import { Choice, element } from "../dom.ts";
import { loadPicture, pictureUrl } from "../pictures.ts";
import { shownName } from "../text.ts";
import type { Entry } from "../../api/messages.ts";

/** What is said of a picture that is not drawn. */
const NOT_DRAWN =
  "It can't be drawn: it is damaged, too large, or of a kind that browsers do not know.";

/** A picture: as large as there is room, or each pixel as one. */
export function pictureView(entry: Pick<Entry, "name" | "url">): HTMLElement {
  const size = element("output", { class: "pointed" });
  const image = element("img", {
    class: "picture fit",
    alt: shownName(entry.name),
    decoding: "async",
    load: () => {
      size.textContent =
        `${image.naturalWidth} × ${image.naturalHeight} pixels`;
      // Small ones are looked at by their pixels.
      const isSmall = image.naturalWidth <= 160 && image.naturalHeight <= 160;
      image.classList.toggle("pixels", isSmall);
    },
    error: () => {
      image.replaceWith(
        element("p", { class: "problem", role: "alert" }, NOT_DRAWN),
      );
    },
  });
  loadPicture(image, pictureUrl(entry.url));
  const choice = new Choice(
    "Size",
    [["fit", "Fit"], ["actual", "1:1"]],
    "fit",
    (
      chosen,
    ) => image.classList.toggle("fit", chosen === "fit"),
  );
  return element(
    "div",
    { class: "picture-view" },
    element("div", { class: "tools" }, choice.element, size),
    element("div", { class: "stage" }, image),
  );
}

/** A video or a piece of audio. */
export function mediaView(
  entry: Pick<Entry, "name" | "url">,
  kind: "video" | "audio",
  signal: AbortSignal,
): HTMLElement {
  const media = element(kind, {
    controls: true,
    preload: "metadata",
    src: fileUrl(entry.url),
    "aria-label": shownName(entry.name),
    error: () => {
      if (signal.aborted) return;
      media.replaceWith(
        element(
          "p",
          { class: "problem", role: "alert" },
          "The browser can't play it.",
        ),
      );
    },
  });
  signal.addEventListener("abort", () => {
    media.removeAttribute("src"); // ends what is loading
    media.load();
  });
  return element("div", { class: "stage" }, media);
}
