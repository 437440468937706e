import { FormatError } from "../../../errors.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { CheckOptions, CheckReport } from "../../../tree/format.ts";
import { warnOnConsole } from "../../../message_text.ts";
import { ChunkCheck } from "./check_chunk.ts";
import type { ChunkListing } from "../read/chunk_files.ts";
import { DirectoryIndex } from "../read/directory_index.ts";
import { duplicateId } from "./faults.ts";
import { readLabels } from "../meta/labels.ts";
import { OpenedChunk } from "../read/opened_chunk.ts";

/**
 * Checks chunks, one after the other: that files come in pairs and belong together, that no id is there
 * twice, that each frame is a JPEG with its padding and lies apart from the others.
 *
 * All bytes of the data files are read. A chunk takes 12 bytes of memory a frame beside its index.
 *
 * @throws {RecordfsError} If a file cannot be opened.
 */
export async function checkChunks(
  listing: ChunkListing,
  options: CheckOptions,
): Promise<CheckReport> {
  const chunks: OpenedChunk[] = [];
  try {
    return await new Check(listing, options, chunks).run();
  } finally {
    for (const chunk of chunks) chunk.close();
  }
}

class Check {
  readonly #listing: ChunkListing;
  readonly #options: CheckOptions;
  readonly #chunks: OpenedChunk[];
  #damaged = 0;

  constructor(
    listing: ChunkListing,
    options: CheckOptions,
    chunks: OpenedChunk[],
  ) {
    this.#listing = listing;
    this.#options = options;
    this.#chunks = chunks;
  }

  async run(): Promise<CheckReport> {
    const { problems, labelPath } = this.#listing;
    for (const problem of problems) this.#report(problem);
    await this.#guard(() =>
      runAsync(readLabels(labelPath, this.#storage), this.#signal)
    );
    await this.#openChunks();
    const sizes = this.#chunks.map(({ dataSize }) => dataSize);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let bytes = total;
    let samples = 0;
    let before = 0;
    for (const [i, chunk] of this.#chunks.entries()) {
      bytes += chunk.meta.size;
      samples += chunk.meta.frameCount;
      const check = new ChunkCheck(
        chunk,
        (damage) => this.#report(damage),
        (done) => this.#options.onProgress?.(before + done, total),
        this.#signal,
      );
      await this.#guard(() => check.run());
      this.#warnOfEmpty(chunk);
      before += sizes[i]!;
    }
    this.#options.onProgress?.(total, total);
    return { samples, bytes, damaged: this.#damaged };
  }

  get #signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get #storage(): Storage {
    return this.#options.storage ?? LOCAL_DISK;
  }

  async #openChunks(): Promise<void> {
    const index = new DirectoryIndex();
    for (const { dataPath, metaPath } of this.#listing.chunks) {
      await this.#guard(async () => {
        const chunk = await runAsync(
          OpenedChunk.open(dataPath, metaPath, { storage: this.#storage }),
          this.#signal,
        );
        this.#chunks.push(chunk);
        index.add(chunk.meta, (video, before) => {
          const first = this.#chunks[before.chunk]!.meta;
          this.#report(duplicateId(chunk.meta, video, first));
        });
      });
    }
  }

  /** The originals count it as damage; it is what a chunk without videos looks like. */
  #warnOfEmpty({ dataPath, dataSize, meta }: OpenedChunk): void {
    if (dataSize > 0 || meta.frameCount > 0) return;
    const message = `${dataPath} is empty, as its ${meta.path} says`;
    (this.#options.onWarning ?? warnOnConsole)(message);
  }

  #report(damage: FormatError): void {
    this.#damaged++;
    this.#options.onDamage(damage);
  }

  /** Reports damage and goes on; anything else ends the check. */
  async #guard(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.#report(error);
    }
  }
}
