import { NewFile } from "../io/write/new_file.ts";
import type { Steps } from "../io/concurrency/steps.ts";

/** Bytes gathered before they are written. */
const CAPACITY = 1 << 16;

/**
 * A file of indices, one a line, that appears when it is complete: what {@linkcode readIndexFile} reads,
 * written an index at a time, however many there are.
 */
export class IndexOutput {
  readonly #file: NewFile;
  #lines = "";
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
      for (const comment of comments) {
        output.#lines += `# ${comment.replaceAll(/\s*[\r\n]\s*/g, " ")}\n`;
      }
      yield* output.flush();
      return output;
    } catch (error) {
      output.discard();
      throw error;
    }
  }

  /** True if {@linkcode IndexOutput.flush} has to come before the next index. */
  get full(): boolean {
    return this.#lines.length >= CAPACITY;
  }

  /** Adds an index. */
  add(index: number): void {
    this.#lines += `${index}\n`;
  }

  /** Writes what was added. */
  *flush(): Steps<void> {
    const bytes = new TextEncoder().encode(this.#lines);
    yield* this.#file.file.writeAt(bytes, this.#offset);
    this.#offset += bytes.length;
    this.#lines = "";
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
