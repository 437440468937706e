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
import { SampleBlock } from "../write/sample_block.ts";
import { FFRecordWriter, writeBlock } from "../write/writer.ts";

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
  const files = new PackFiles(root, listing);
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
      for (const { file, count } of files) {
        const writer = await FFRecordWriter.open(file, { count, sync, signal });
        try {
          await this.#write(writer, count);
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
      files: this.#files.filesRead,
      bytes: this.#files.bytesRead,
      totalFiles: this.#listing.files,
      totalBytes: this.#listing.bytes,
    });
  }

  /** Writes the next `count` samples. */
  async #write(writer: FFRecordWriter, count: number): Promise<void> {
    const { signal } = this.#options;
    // One block is written while the next is filled.
    const blocks = [new SampleBlock(), new SampleBlock()] as const;
    let turn: 0 | 1 = 0;
    let writing: Promise<void> | undefined;
    try {
      for (let left = count;;) {
        const block = blocks[turn];
        block.clear();
        this.#files.fill(block, left);
        if (block.used === 0 && block.count === 0) break;
        left -= block.count;
        await writing;
        writing = writeBlock(writer, block, { signal });
        writing.catch(() => {}); // it is waited for later
        turn = turn === 0 ? 1 : 0;
        if (shouldYield()) await this.#pause();
      }
    } finally {
      await writing;
    }
    if (writer.length < count) {
      await writer.write(this.#structure(), { signal });
    }
  }

  async *#structure(): AsyncGenerator<Uint8Array> {
    for (const piece of writeStructure(this.#listing)) {
      yield piece;
      if (shouldYield()) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    this.tellProgress();
    await yieldToEventLoop();
  }
}
