import * as path from "node:path";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import type { PackListing } from "./pack_listing.ts";
import type { PackOptions } from "./pack_folder.ts";
import type { PackReader } from "./pack_reader.ts";
import { divide, isInParts } from "../write/record_paths.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { FFRecordWriter, writeBlock } from "../write/writer.ts";

/** Writes the listed files as samples, and the structure as the last; returns the paths of the files written. */
export async function writePacked(
  reader: PackReader,
  listing: PackListing,
  target: string,
  options: PackOptions,
): Promise<string[]> {
  const packing = new Packing(reader, listing, options);
  const { parts = 1 } = options;
  const paths = !isInParts(target, options.parts)
    ? await packing.writeFile(target)
    : await packing.writeParts(target, parts);
  packing.tellProgress();
  return paths;
}

class Packing {
  readonly #reader: PackReader;
  readonly #listing: PackListing;
  readonly #options: PackOptions;
  #filesRead = 0;
  #bytesRead = 0;

  constructor(reader: PackReader, listing: PackListing, options: PackOptions) {
    this.#reader = reader;
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
    // Built now, while another thread may read the first files.
    const structure = await this.#structure();
    // A part is flushed to disk while the next one is written.
    let closing: Promise<void> = Promise.resolve();
    try {
      for (const { file, count } of files) {
        const writer = await FFRecordWriter.open(file, { count, sync, signal });
        try {
          await this.#write(writer, count, structure);
          await closing;
        } catch (error) {
          writer.abort();
          throw error;
        }
        closing = writer.close({ signal });
        closing.catch(() => {}); // awaited later
      }
      await closing;
    } finally {
      await closing.catch(() => {});
    }
  }

  tellProgress(): void {
    this.#options.onProgress?.({
      files: this.#filesRead,
      bytes: this.#bytesRead,
      totalFiles: this.#listing.files,
      totalBytes: this.#listing.bytes,
    });
  }

  async #write(
    writer: FFRecordWriter,
    count: number,
    structure: readonly Uint8Array[],
  ): Promise<void> {
    const { signal } = this.#options;
    for (let left = count;;) {
      const block = await this.#reader.next(left);
      if (block === undefined) break;
      left -= block.count;
      this.#filesRead += block.count;
      this.#bytesRead += block.used;
      await writeBlock(writer, block, { signal });
      this.#reader.free(block);
      if (shouldYield()) await this.#pause();
    }
    if (writer.length < count) {
      await writer.write(ReadableStream.from(structure), { signal });
    }
  }

  async #structure(): Promise<readonly Uint8Array[]> {
    const pieces: Uint8Array[] = [];
    for (const piece of writeStructure(this.#listing)) {
      pieces.push(piece);
      if (shouldYield()) await this.#pause();
    }
    return pieces;
  }

  async #pause(): Promise<void> {
    this.tellProgress();
    await yieldToEventLoop();
  }
}
