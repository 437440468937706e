/** Player for videos stored as frames: draws on a canvas, frame by frame, at any speed. */
import type { ClipView, Entry } from "../../api/messages.ts";
import { button, Choice, element, setAttribute } from "../dom.ts";
import { icon } from "../icons.ts";
import type { Key } from "../keyboard.ts";
import { counted, number } from "../text.ts";
import { Frames } from "./frames.ts";

/** Frames per second if unknown. */
const USUAL_RATE = 25;

const SPEEDS = [["0.25", "¼×"], ["0.5", "½×"], ["1", "1×"], ["2", "2×"], [
  "4",
  "4×",
]] as const;

export class ClipPlayer {
  readonly element: HTMLElement;
  readonly keys: readonly Key[];
  readonly #frames: Frames;
  readonly #signal: AbortSignal;
  readonly #canvas = element("canvas", {
    class: "frame",
    width: 1,
    height: 1,
    role: "img",
    "aria-label": "Frame",
  });
  readonly #problem = element("p", {
    class: "problem",
    role: "alert",
    hidden: true,
  });
  readonly #play: HTMLButtonElement;
  readonly #scrub: HTMLInputElement;
  readonly #where = element("output", { class: "where" });
  readonly #rate: number;
  #speed = 1;
  readonly #onStay: (frame: number) => void;
  #frame = -1;
  /** Requested frame; another may be shown until it is loaded. */
  #wanted = 0;
  #isPlaying = false;

  /** @param onStay Called when the player stops at a frame. */
  constructor(
    entry: Entry,
    view: ClipView,
    first: number,
    onStay: (frame: number) => void,
    signal: AbortSignal,
  ) {
    this.#onStay = onStay;
    this.#frames = new Frames(entry, view, signal);
    this.#signal = signal;
    this.#rate = view.framesPerSecond ?? USUAL_RATE;
    const last = Math.max(0, view.frames - 1);
    this.#play = button("", () => this.toggle(), { class: "button play" });
    this.#scrub = element("input", {
      type: "range",
      min: 0,
      max: last,
      value: 0,
      "aria-label": "Frame",
      input: () => {
        this.pause();
        void this.show(this.#scrub.valueAsNumber);
      },
    });
    const speed = new Choice("Speed", SPEEDS, "1", (chosen) => {
      this.#speed = Number(chosen);
    });
    this.element = element(
      "section",
      { class: "clip", "aria-label": "Player" },
      element("div", { class: "stage" }, this.#canvas, this.#problem),
      element(
        "div",
        { class: "player" },
        this.#play,
        this.#step("back", "One frame back", -1),
        this.#step("forward", "One frame on", 1),
        this.#scrub,
        this.#where,
      ),
      element(
        "div",
        { class: "tools" },
        speed.element,
        element(
          "span",
          { class: "note" },
          `${counted(view.frames, "frame")}, ${
            number(this.#rate)
          } frames per second${
            view.framesPerSecond === null ? " (assumed)" : ""
          }`,
        ),
      ),
    );
    this.keys = [
      { key: " ", says: "Play or pause the clip", run: () => this.toggle() },
      { key: ",", says: "One frame back", run: () => this.step(-1) },
      { key: ".", says: "One frame on", run: () => this.step(1) },
    ];
    this.#showState();
    if (view.frames === 0) {
      this.#tell("The clip has no frames.");
      this.#play.disabled = true;
    } else void this.show(Math.min(first, last));
    signal.addEventListener("abort", () => this.#isPlaying = false);
  }

  #step(drawn: "back" | "forward", says: string, by: number): HTMLElement {
    const made = button("", () => this.step(by), {
      "aria-label": says,
      title: says,
    });
    made.append(icon(drawn));
    return made;
  }

  toggle(): void {
    if (this.#isPlaying) this.pause();
    else void this.#run();
  }

  pause(): void {
    if (!this.#isPlaying) return;
    this.#isPlaying = false;
    this.#showState();
    this.#onStay(this.#frame);
  }

  /** Moves by a number of frames, wrapping around. */
  step(by: number): void {
    this.pause();
    const { length } = this.#frames;
    if (length > 0) void this.show((this.#wanted + by + length) % length);
  }

  async show(index: number): Promise<void> {
    this.#wanted = index;
    let picture: HTMLImageElement | undefined;
    try {
      picture = await this.#frames.picture(index);
    } catch {
      // Reported below, if it is still requested.
    }
    if (this.#wanted !== index || this.#signal.aborted) return;
    this.#draw(index, picture);
    if (!this.#isPlaying) this.#onStay(index);
    this.#frames.goAhead(index);
  }

  #draw(index: number, picture: HTMLImageElement | undefined): void {
    this.#frame = index;
    const said = `Frame ${index + 1} of ${this.#frames.length}`;
    this.#canvas.hidden = picture === undefined;
    this.#problem.hidden = picture !== undefined;
    if (picture === undefined) this.#tell(`${said} is damaged.`);
    else {
      const { naturalWidth: width, naturalHeight: height } = picture;
      if (this.#canvas.width !== width || this.#canvas.height !== height) {
        [this.#canvas.width, this.#canvas.height] = [width, height];
        this.#canvas.classList.toggle("pixels", Math.max(width, height) <= 160);
      }
      const context = this.#canvas.getContext("2d")!;
      context.clearRect(0, 0, width, height);
      context.drawImage(picture, 0, 0);
    }
    setAttribute(this.#canvas, "aria-label", said);
    this.#canvas.dataset.frame = String(index);
    this.#scrub.valueAsNumber = index;
    setAttribute(this.#scrub, "aria-valuetext", said);
    this.#where.textContent = `${index + 1} / ${this.#frames.length}`;
  }

  #tell(problem: string): void {
    this.#problem.hidden = false;
    this.#problem.textContent = problem;
  }

  /** Plays frames at the frame rate, or as fast as they load. */
  async #run(): Promise<void> {
    const { length } = this.#frames;
    if (length === 0 || this.#signal.aborted) return;
    this.#isPlaying = true;
    this.#showState();
    let due = performance.now();
    while (this.#isPlaying) {
      due = Math.max(
        due + 1000 / (this.#rate * this.#speed),
        performance.now() - 100,
      );
      await this.show((this.#wanted + 1) % length);
      const wait = due - performance.now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
    }
  }

  #showState(): void {
    const says = this.#isPlaying ? "Pause" : "Play";
    setAttribute(this.#play, "aria-label", says);
    this.#play.title = `${says} (space)`;
    this.#play.replaceChildren(icon(this.#isPlaying ? "pause" : "play"));
  }
}
