/** Maximum of distinct messages; a damaged container may cause one per sample. */
const MOST_MESSAGES = 1000;

/** Logs each distinct message once, and at most 1,000 of them. */
export class OnceLog {
  readonly #seen = new Set<string>();
  readonly #sink: (message: string) => void;

  constructor(sink: (message: string) => void) {
    this.#sink = sink;
  }

  log(message: string): void {
    if (this.#seen.has(message) || this.#seen.size > MOST_MESSAGES) return;
    this.#seen.add(message);
    this.#sink(
      this.#seen.size > MOST_MESSAGES
        ? `More than ${MOST_MESSAGES} different messages: no further ones are shown`
        : message,
    );
  }
}
