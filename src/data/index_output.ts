import { NewFile } from "../io/write/new_file.ts";
import type { Steps } from "../io/concurrency/steps.ts";

/** Bytes gathered before they are written. */
const CAPACITY = 1 << 16;

/** The longest line: the digits of 2^53 and its end. */
const LONGEST_LINE = 17;

const ZERO = 0x30;
const LINE_FEED = 0x0a;

/**
 * A file of indices, one a line, that appears when it is complete: what {@linkcode readIndexFile} reads,
 * written an index at a time, however many there are.
 */
export class IndexOutput {
  readonly #file: NewFile;
  readonly #buffer = new Uint8Array(CAPACITY);
  #length = 0;
  #offset = 0;

  private constructor(file: NewFile) {
    this.#file = file;
  }

  /**
   * Starts a file. One that is there already stays as it is until {@linkcode IndexOutput.publish}.
   *
   * @param comments Lines for people, without their `#`.
   * @throws {WriteError} If it can't be written.
   */
  static *create(
    path: string,
    comments: readonly string[],
  ): Steps<IndexOutput> {
    const output = new IndexOutput(yield* NewFile.create(path));
    try {
      const lines = comments.map((comment) =>
        `# ${comment.replaceAll(/\s*[\r\n]\s*/g, " ")}\n`
      );
      const text = new TextEncoder().encode(lines.join(""));
      yield* output.#file.file.writeAt(text, 0);
      output.#offset = text.length;
      return output;
    } catch (error) {
      output.discard();
      throw error;
    }
  }

  /** True if {@linkcode IndexOutput.flush} has to come before the next index. */
  get full(): boolean {
    return this.#length > CAPACITY - LONGEST_LINE;
  }

  /** Adds an index. */
  add(index: number): void {
    const start = this.#length;
    let rest = index;
    let end = start;
    do {
      const tenth = Math.floor(rest / 10);
      this.#buffer[end++] = ZERO + (rest - 10 * tenth);
      rest = tenth;
    } while (rest > 0);
    this.#buffer.subarray(start, end).reverse();
    this.#buffer[end++] = LINE_FEED;
    this.#length = end;
  }

  /** Writes what was added. */
  *flush(): Steps<void> {
    const bytes = this.#buffer.subarray(0, this.#length);
    yield* this.#file.file.writeAt(bytes, this.#offset);
    this.#offset += bytes.length;
    this.#length = 0;
  }

  /** Waits until all of it is on the disk. */
  *finish(): Steps<void> {
    yield* this.flush();
    yield* this.#file.file.sync();
  }

  /** Gives the finished file its name. Not to be given up half-way. */
  publish(): Steps<void> {
    return this.#file.publish();
  }

  /** Removes the file, unless it has its name. */
  discard(): void {
    this.#file.discard();
  }
}
