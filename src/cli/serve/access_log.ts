import type { Access } from "../../serve/options.ts";
import { messageText } from "../../base/message_text.ts";

/** Lines are written at once when there are so many bytes of them, and after so many milliseconds. */
const GATHERED = 16 << 10;
const AFTER = 200;
/** No line has more bytes: messages have 2,000 characters of a request at most, of which an escaped one takes six. */
const LONGEST = 16 << 10;

/** Characters that a terminal shows as they are, and not too many of them. */
const PLAIN = /^[ -~]{0,500}$/;

/** A line on standard error for each request: many at a time, so that writing them takes no longer than answering. */
export class AccessLog implements Disposable {
  /** As bytes: text that waits would be moved again and again as garbage is collected, for 3 µs a request. */
  readonly #lines = new Uint8Array(GATHERED + LONGEST);
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #encoder = new TextEncoder();
  /** The second that was written last, as text. */
  #second = { number: 0, text: "" };

  /** Notes a request. */
  add({ client, method, path, status, duration }: Access): void {
    const request = `${method} ${path}`;
    const shown = PLAIN.test(request) ? request : messageText(request);
    const line = `${this.#now()} ${client} ${shown} ${status} ${
      Math.round(duration * 10) / 10
    } ms\n`;
    const rest = this.#lines.subarray(this.#length);
    this.#length += this.#encoder.encodeInto(line, rest).written;
    if (this.#length >= GATHERED) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), AFTER);
  }

  /** Writes what is left. */
  [Symbol.dispose](): void {
    this.#write();
  }

  #now(): string {
    const number = Math.floor(Date.now() / 1000);
    if (number !== this.#second.number) {
      const text = new Date(number * 1000).toISOString().replace(".000", "");
      this.#second = { number, text };
    }
    return this.#second.text;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let rest = this.#lines.subarray(0, this.#length);
    this.#length = 0;
    try {
      while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
    } catch {
      // Nobody reads it any more: that is no reason not to serve.
    }
  }
}
