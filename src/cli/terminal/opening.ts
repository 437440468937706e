import type { RemoteObserver } from "../../io/remote/client.ts";
import type { Progress } from "./progress.ts";

/** Nothing is shown of what takes no longer, in milliseconds. */
const AFTER = 1000;

/** Shows on a terminal what is fetched of a container that lies on a server, until it is open: its index may be large. */
export class Opening implements Disposable {
  readonly observer: RemoteObserver = {
    asked() {},
    retried() {},
    fetched: (_name, _start, length) => this.update(this.#bytes + length),
  };
  #bytes = 0;
  #bar: Progress | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(isShown: boolean = Deno.stderr.isTerminal()) {
    if (isShown) this.#timer = setTimeout(() => void this.#show(), AFTER);
  }

  /** Hears how many bytes have been fetched. */
  update(bytes: number): void {
    this.#bytes = bytes;
    this.#bar?.update(bytes);
  }

  /** It is open, or can't be: removes what is shown. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#bar?.[Symbol.dispose]();
    this.#bar = undefined;
  }

  async #show(): Promise<void> {
    const { Progress } = await import("./progress.ts"); // few commands take so long
    if (this.#isOver) return;
    this.#bar = new Progress("fetching the index", "bytes");
    this.#bar.update(this.#bytes);
  }
}
