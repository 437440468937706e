/** Pictures, videos and audio, as the browser shows them. */
import { fileUrl, get } from "../api.ts";
import { Choice, element, problemLine } from "../dom.ts";
import { drawnUrl, loadPicture, pictureUrl } from "../pictures.ts";
import { shownName } from "../text.ts";
import type { Entry, PictureMessage } from "../../api/messages.ts";

/** What is said of a picture that is not drawn. */
const NOT_DRAWN =
  "It can't be drawn: it is damaged, too large, or of a kind that browsers do not know.";

/**
 * A picture: as large as there is room, or each pixel as one. Of one that the browser cannot draw, such as TIFF, the
 * server makes another. What the browser draws of a damaged picture may be half of it or nothing, which only the server
 * can tell.
 */
export function pictureView(
  entry: Pick<Entry, "name" | "url">,
  signal: AbortSignal,
): HTMLElement {
  const size = element("output", { class: "pointed" });
  let isVerified = false;
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
      if (!isMade && !isVerified) void sayDamage();
    },
    error: () => {
      if (!isMade) {
        isMade = true;
        return loadPicture(image, drawnUrl(entry.url));
      }
      tools.remove();
      const line = problemLine(NOT_DRAWN);
      image.replaceWith(line);
      void damageOf(entry.url, signal).then((damage) => {
        if (damage !== null) {
          line.textContent = `The picture is damaged: ${damage}.`;
        }
      });
    },
  });
  const sayDamage = async () => {
    isVerified = true;
    const damage = await damageOf(entry.url, signal);
    if (damage === null || !image.isConnected) return;
    tools.after(problemLine(
      `The picture is damaged: ${damage}. What is left of it is shown.`,
    ));
  };
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
  const tools = element("div", { class: "tools" }, choice.element, size);
  return element(
    "div",
    { class: "picture-view" },
    tools,
    element("div", { class: "stage" }, image),
  );
}

/** What the server finds wrong with a picture; `null` if nothing, or if it does not say. */
async function damageOf(
  url: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const message = await get<PictureMessage>("picture", { path: url }, signal);
    return message.damage;
  } catch {
    return null; // a banner says that the server is gone
  }
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
      media.replaceWith(problemLine("The browser can't play it."));
    },
  });
  signal.addEventListener("abort", () => {
    media.removeAttribute("src"); // ends what is loading
    media.load();
  });
  return element("div", { class: "stage" }, media);
}
