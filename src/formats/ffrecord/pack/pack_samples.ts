import * as path from "node:path";
import type { Directory } from "../../../io/directories/directory.ts";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { PackFiles } from "./pack_files.ts";
import type { PackListing } from "./pack_listing.ts";
import type { PackOptions } from "./pack_folder.ts";
import { divide, isInParts } from "../write/record_paths.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { FFRecordWriter } from "../write/writer.ts";

/** Content in memory, or piece by piece. */
type Sample = Uint8Array | Iterable<Uint8Array>;

/**
 * Writes what was listed of a folder: each file a sample, and the structure as the last.
 *
 * @returns The paths of the files that there are then.
 */
export async function writePacked(
  root: Directory,
  listing: PackListing,
  target: string,
  options: PackOptions,
): Promise<string[]> {
  const files = new PackFiles(root);
  try {
    const packing = new Packing(files, listing, options);
    const { parts = 1 } = options;
    const paths = !isInParts(target, options.parts)
      ? await packing.writeFile(target)
      : await packing.writeParts(target, parts);
    packing.tellProgress();
    return paths;
  } finally {
    files.close();
  }
}

class Packing {
  readonly #files: PackFiles;
  readonly #listing: PackListing;
  readonly #options: PackOptions;
  #packed = 0;

  constructor(files: PackFiles, listing: PackListing, options: PackOptions) {
    this.#files = files;
    this.#listing = listing;
    this.#options = options;
  }

  async writeFile(target: string): Promise<string[]> {
    await this.#writeFiles([{ file: target, count: this.#listing.files + 1 }]);
    return [target];
  }

  async writeParts(target: string, parts: number): Promise<string[]> {
    const files = divide(this.#listing.files + 1, parts);
    await NewDirectory.write(
      target,
      this.#options.signal,
      (temporary) =>
        this.#writeFiles(files.map(({ name, count }) => ({
          file: path.join(temporary, name),
          count,
        }))),
      this.#options.sync,
    );
    return files.map(({ name }) => path.join(target, name));
  }

  async #writeFiles(
    files: readonly { readonly file: string; readonly count: number }[],
  ): Promise<void> {
    const { signal, sync } = this.#options;
    // A part goes to the disk while the next one is written.
    let closing: Promise<void> = Promise.resolve();
    try {
      const samples = this.#samples();
      for (const { file, count } of files) {
        const writer = await FFRecordWriter.open(file, { count, sync, signal });
        try {
          await this.#write(writer, samples, count);
          await closing;
        } catch (error) {
          writer.abort();
          throw error;
        }
        closing = writer.close({ signal });
        closing.catch(() => {}); // it is waited for later
      }
      await closing;
    } finally {
      await closing.catch(() => {});
    }
  }

  tellProgress(): void {
    this.#options.onProgress?.({
      files: this.#packed,
      bytes: this.#files.bytesRead,
      totalFiles: this.#listing.files,
      totalBytes: this.#listing.bytes,
    });
  }

  /** Writes the next `count` samples. */
  async #write(
    writer: FFRecordWriter,
    samples: Iterator<Sample>,
    count: number,
  ): Promise<void> {
    const { signal } = this.#options;
    // A sample is written while the next one is read.
    let writing: Promise<unknown> | undefined;
    try {
      for (let written = 0; written < count; written++) {
        const { value, done } = samples.next();
        if (done) break; // closing says how many are missing
        await writing;
        const isWhole = value instanceof Uint8Array;
        writing = writer.write(
          isWhole ? value : this.#inTurns(value),
          { signal },
        );
        writing.catch(() => {}); // it is waited for later
        if (!isWhole) await writing; // its pieces are read meanwhile
        if (shouldYield()) await this.#pause();
      }
    } finally {
      await writing;
    }
  }

  /** Each sample is good until the one after the next is asked for. */
  *#samples(): Generator<Sample> {
    for (const entry of this.#listing) {
      if (entry.kind !== "file") this.#files.move(entry);
      else {
        yield this.#files.read(entry.name, entry.size);
        this.#packed++;
      }
    }
    yield writeStructure(this.#listing);
  }

  async *#inTurns(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      yield piece;
      if (shouldYield()) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    this.tellProgress();
    await yieldToEventLoop();
  }
}
