import type { Access } from "../../serve/options.ts";
import { messageText } from "../../base/message_text.ts";

/** The buffer is written after so many bytes, or so many milliseconds. */
const GATHERED = 16 << 10;
const AFTER = 200;
/** Maximum bytes of a line: messages contain at most 2,000 characters of a request, each up to six when escaped. */
const LONGEST = 16 << 10;

/** Requests that a terminal shows unchanged, of limited length. */
const PLAIN = /^[ -~]{0,500}$/;

/** Logs a line on standard error per request. Batches lines, so that logging takes no longer than answering. */
export class AccessLog implements Disposable {
  /** Bytes, because pending strings would be moved by garbage collections, at 3 µs a request. */
  readonly #lines = new Uint8Array(GATHERED + LONGEST);
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #encoder = new TextEncoder();
  /** Text of the last formatted second. */
  #second = { number: 0, text: "" };

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
      // A closed log must not stop the server.
    }
  }
}
