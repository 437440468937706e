import { NewFile } from "../../../io/write/new_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import { BagOutput } from "./bag_output.ts";
import { ENTRY, writeEntry } from "../../../tree/limits/limit_entries.ts";

const PIECE = 1 << 20;

/**
 * A bag of generation 1 or 2. The index follows the records; until the bag is finished, it is in a scratch file, so
 * that memory use does not grow with the number of records.
 */
export class TrailedBagOutput extends BagOutput<1 | 2> {
  /** Starts a bag in an empty file. `path` is for errors; a scratch file may be created next to `scratch`. */
  static *create(
    generation: 1 | 2,
    file: WritableFile,
    path: string,
    scratch: string,
  ): Steps<TrailedBagOutput> {
    const indexFile = yield* NewFile.createScratch(scratch, path);
    return new TrailedBagOutput({ generation, path, file, indexFile });
  }

  override get size(): number {
    return super.size + (this.generation === 1 ? ENTRY : 0);
  }

  /** Always `false`: nobody reads the index before the end, so it is written whenever its buffer is full. */
  override get needsFlush(): boolean {
    return false;
  }

  override *finish(): Steps<void> {
    yield* this.records.flush();
    yield* this.index.flush();
    const end = this.records.end;
    const length = this.index.end;
    const buffer = new Uint8Array(Math.min(length, PIECE));
    for (let done = 0; done < length; done += PIECE) {
      const piece = buffer.subarray(0, length - done);
      yield* this.indexFile.readAt(piece, done);
      yield* this.file.writeAt(piece, end + done);
    }
    if (this.generation === 1) {
      const entry = new Uint8Array(ENTRY);
      writeEntry(entry, end);
      yield* this.file.writeAt(entry, end + length);
    }
    yield* this.file.sync();
  }
}
