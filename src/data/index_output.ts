import { NewFile } from "../io/write/new_file.ts";
import type { Steps } from "../io/concurrency/steps.ts";

/** Characters buffered before they are written. */
const CAPACITY = 1 << 16;

/**
 * Writer of index files, as {@linkcode readIndexFile} reads them: one index at a time, however many there are. The
 * file appears when it is complete.
 */
export class IndexOutput {
  readonly #file: NewFile;
  #lines = "";
  #offset = 0;

  private constructor(file: NewFile) {
    this.#file = file;
  }

  /**
   * Starts a file with comments, given without their `#`. An existing file stays until
   * {@linkcode IndexOutput.publish}.
   *
   * @throws {WriteError} If the file cannot be written.
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

  /** Whether the caller must call {@linkcode IndexOutput.flush} before the next index. */
  get full(): boolean {
    return this.#lines.length >= CAPACITY;
  }

  add(index: number): void {
    this.#lines += `${index}\n`;
  }

  /** Writes the buffered lines. */
  *flush(): Steps<void> {
    const bytes = new TextEncoder().encode(this.#lines);
    yield* this.#file.file.writeAt(bytes, this.#offset);
    this.#offset += bytes.length;
    this.#lines = "";
  }

  /** Writes the rest and waits until all of it is on the disk. */
  *finish(): Steps<void> {
    yield* this.flush();
    yield* this.#file.file.sync();
  }

  /** Gives the finished file its name. Must not be interrupted. */
  publish(): Steps<void> {
    return this.#file.publish();
  }

  /** Removes the file, unless it was published. */
  discard(): void {
    this.#file.discard();
  }
}
