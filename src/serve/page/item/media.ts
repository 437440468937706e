/** Pictures, videos and audio, as the browser shows them. */
import { fileUrl } from "../api.ts";
import { Choice, element } from "../dom.ts";
import { drawnUrl, loadPicture, pictureUrl } from "../pictures.ts";
import { shownName } from "../text.ts";
import type { Entry } from "../../api/messages.ts";

/** What is said of a picture that is not drawn. */
const NOT_DRAWN =
  "It can't be drawn: it is damaged, too large, or of a kind that browsers do not know.";

/**
 * A picture: as large as there is room, or each pixel as one. Of one that the browser cannot draw, such as TIFF, the
 * server makes another.
 */
export function pictureView(entry: Pick<Entry, "name" | "url">): HTMLElement {
  const size = element("output", { class: "pointed" });
  let isMade = /\.tiff?$/i.test(entry.name);
  const image = element("img", {
    class: "picture fit",
    alt: shownName(entry.name),
    decoding: "async",
    load: () => {
      const { naturalWidth, naturalHeight } = image;
      size.textContent = `${naturalWidth} × ${naturalHeight} pixels${
        isMade ? ", as the server has drawn it" : ""
      }`;
      // Small ones are looked at by their pixels.
      const isSmall = naturalWidth <= 160 && naturalHeight <= 160;
      image.classList.toggle("pixels", isSmall);
      image.style.setProperty("--ratio", `${naturalWidth / naturalHeight}`);
    },
    error: () => {
      if (!isMade) {
        isMade = true;
        return loadPicture(image, drawnUrl(entry.url));
      }
      image.replaceWith(
        element("p", { class: "problem", role: "alert" }, NOT_DRAWN),
      );
    },
  });
  const url = isMade ? drawnUrl(entry.url) : pictureUrl(entry.url);
  loadPicture(image, url);
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
