import type { IngestProgress } from "../../../formats/gulp/mod.ts";
import { Progress } from "../../terminal/progress.ts";
import { formatBytes, Rate } from "../../terminal/rate.ts";

/** How far an ingest is: videos, frames, bytes a second, and how long it still takes. */
export class IngestProgressBar implements Disposable {
  readonly #rate = new Rate();
  #bar: Progress | undefined;
  /** Videos that a run before this one had done. */
  #before = 0;

  /** Shows how far it is; the first call says what was done before. */
  update({ videos, failed, totalVideos, frames, bytes }: IngestProgress): void {
    if (!Progress.shown) return;
    const done = videos + failed;
    if (this.#bar === undefined) {
      this.#before = done;
      this.#bar = new Progress("gulping", "videos", totalVideos - done);
    }
    this.#rate.note(bytes);
    const rate = formatBytes(this.#rate.perSecond);
    this.#bar.update(
      done - this.#before,
      `${done} of ${totalVideos} videos, ${frames} frames, ${rate}/s`,
    );
  }

  /** Clears the line, so that something else can be printed. */
  makeWay(): void {
    this.#bar?.makeWay();
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    this.#bar?.[Symbol.dispose]();
  }
}
