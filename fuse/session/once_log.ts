import { messageOf } from "../../src/base/message_text.ts";
import {
  type MessageListener,
  type NamedOption,
  optionsNamedBy,
} from "../../src/base/named_option.ts";
/** Maximum of distinct messages; a damaged container may cause one per sample. */
const MOST_MESSAGES = 1000;

/** Logs each distinct message once, and at most 1,000 of them. */
export class OnceLog {
  readonly #seen = new Set<string>();
  readonly #sink: MessageListener;

  constructor(sink: MessageListener) {
    this.#sink = sink;
  }

  /** Logs the message of an error. */
  error(error: unknown): void {
    this.log(messageOf(error), optionsNamedBy(error));
  }

  log(message: string, options?: readonly NamedOption[]): void {
    if (this.#seen.has(message) || this.#seen.size > MOST_MESSAGES) return;
    this.#seen.add(message);
    if (this.#seen.size <= MOST_MESSAGES) this.#sink(message, options);
    else {
      this.#sink(
        `More than ${MOST_MESSAGES} different messages: no further ones are shown`,
      );
    }
  }
}
