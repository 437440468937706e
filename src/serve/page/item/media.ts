/** Images, videos and audio, shown by the browser. */
import { fileUrl, get } from "../api.ts";
import { Choice, element, problemLine } from "../dom.ts";
import { drawnUrl, loadPicture, pictureUrl } from "../pictures.ts";
import { shownName } from "../text.ts";
import type { Entry, PictureMessage } from "../../api/messages.ts";

const NOT_DRAWN =
  "It can't be drawn: it is damaged, too large, or of a kind that browsers do not know.";

/**
 * Creates the view of an image: fitted, or pixel by pixel. If the browser cannot draw it (such as TIFF), the server
 * converts it. A browser may draw half of a damaged image or nothing, so only the server can report damage.
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
      // Small images are enlarged with visible pixels.
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

/** Returns the server's report on an image's damage; `null` if none, or if the request fails. */
async function damageOf(
  url: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const message = await get<PictureMessage>("picture", { path: url }, signal);
    return message.damage;
  } catch {
    return null; // a banner reports a lost connection
  }
}

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
    media.removeAttribute("src"); // cancels loading
    media.load();
  });
  return element("div", { class: "stage" }, media);
}
