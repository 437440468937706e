import { WriteError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import { newSystemHash } from "../../../io/checksums/file_hash.ts";
import {
  GatheredBytes,
  LARGEST_BUFFER,
} from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import {
  LARGEST_SHARD,
  tableSize,
  WORD,
} from "../../../tree/field_shards/layout.ts";
import { FORMAT, INDEX, shardName, VERSION } from "../layout.ts";
import type { Column } from "../../../tree/field_shards/shard_index.ts";

export interface ShardForm {
  /** Sorted by name, as in the original. */
  readonly columns: readonly Column[];
  /** Maximum bytes of a shard, unless a single sample exceeds it. */
  readonly sizeLimit: number;
  readonly shardLength: number;
}

const HASH = "sha1";

class ValuesOutput extends GatheredBytes {
  *append(bytes: Uint8Array): Steps<void> {
    yield* this.appendSummed(bytes, () => 0, 0, "sample");
  }
}

/** Shard being filled. Its samples are gathered in an unnamed file, because the table before them is written last. */
interface OpenShard {
  readonly scratch: WritableFile;
  readonly output: ValuesOutput;
}

/** Writes shards and their index. Memory use grows only by 4 bytes per sample of the current shard (`#ends`). */
export class ShardsOutput {
  readonly #directory: string;
  /** Name of the directory in errors. */
  readonly #name: string;
  readonly #form: ShardForm;
  readonly #config: Uint8Array;
  readonly #shards: unknown[] = [];
  #open: OpenShard | undefined;
  /** Ends of the shard's samples, from the start of the first one. */
  #ends = new GrowingNumbers(2 ** 32);
  #length = 0;

  constructor(directory: string, name: string, form: ShardForm) {
    this.#directory = directory;
    this.#name = name;
    this.#form = form;
    this.#config = new TextEncoder().encode(JSON.stringify(this.#facts()));
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Appends a sample of encoded values in column order, and returns its index.
   *
   * @throws {WriteError} If it is longer than a shard can be, or the system reports an error.
   */
  *append(values: readonly Uint8Array[]): Steps<number> {
    const { columns } = this.#form;
    const sizes = columns.flatMap(({ encoding }, i) =>
      encoding.size === undefined ? [values[i]!.byteLength] : []
    );
    const head = new Uint8Array(Uint32Array.from(sizes).buffer);
    const length = values.reduce(
      (sum, { byteLength }) => sum + byteLength,
      head.length,
    );
    if (this.#sizeWith(0, 1) + length > LARGEST_SHARD) {
      throw new WriteError(
        "bad-value",
        `Cannot write to ${this.#name}: a sample of ${length} bytes is ` +
          "longer than a shard may be",
        { path: this.#name, sample: this.#length, actual: length },
      );
    }
    if (this.#isFull(length)) yield* this.#finishShard();
    const { output } = this.#open ??= yield* this.#start();
    const before = output.end;
    try {
      yield* output.append(head);
      for (const bytes of values) yield* output.append(bytes);
    } catch (error) {
      output.takeBack(before);
      throw error;
    }
    this.#ends.push(output.end);
    return this.#length++;
  }

  /** Completes the last shard, and writes the index. */
  *finish(): Steps<void> {
    if (this.#open !== undefined) yield* this.#finishShard();
    const index = { shards: this.#shards, version: VERSION };
    const text = new TextEncoder().encode(JSON.stringify(index));
    yield* NewFile.write(pathIn(this.#directory, INDEX), text);
  }

  close(): void {
    this.#open?.scratch.close();
    this.#open = undefined;
  }

  #isFull(length: number): boolean {
    const samples = this.#ends.length;
    if (samples === 0) return false;
    const { shardLength, sizeLimit } = this.#form;
    const size = this.#sizeWith(this.#ends.at(samples - 1), samples + 1) +
      length;
    return samples >= shardLength || size > Math.min(sizeLimit, LARGEST_SHARD);
  }

  #sizeWith(data: number, samples: number): number {
    return tableSize(samples) + this.#config.length + data;
  }

  *#start(): Steps<OpenShard> {
    const path = pathIn(this.#directory, shardName(this.#shards.length));
    const scratch = yield* NewFile.createScratch(path, this.#name);
    return { scratch, output: new ValuesOutput(scratch, 0) };
  }

  *#finishShard(): Steps<void> {
    const { scratch, output } = this.#open!;
    const samples = this.#ends.length;
    yield* output.flush();
    const data = output.end;
    const basename = shardName(this.#shards.length);
    const hash = newSystemHash(HASH)!;
    const shard = yield* NewFile.create(pathIn(this.#directory, basename));
    try {
      const { file } = shard;
      const head = this.#head(samples);
      hash.update(head);
      yield* file.writeAt(head, 0);
      const piece = new Uint8Array(Math.min(data, LARGEST_BUFFER));
      for (let at = 0; at < data; at += piece.length) {
        const part = piece.subarray(0, Math.min(piece.length, data - at));
        yield* scratch.readAt(part, at);
        hash.update(part);
        yield* file.writeAt(part, head.length + at);
      }
      yield* file.sync();
      yield* shard.publish(false);
    } finally {
      shard.discard();
    }
    this.close();
    this.#ends = new GrowingNumbers(2 ** 32);
    const bytes = this.#sizeWith(data, samples);
    const raw = { basename, bytes, hashes: { [HASH]: hash.digest() } };
    const { version, ...facts } = this.#facts();
    this.#shards.push({
      ...facts,
      raw_data: raw,
      samples,
      version,
      zip_data: null,
    });
  }

  /** Returns the number of samples, their offsets and the end of the last one, and the configuration. */
  #head(samples: number): Uint8Array {
    const first = this.#sizeWith(0, samples);
    const table = new Uint32Array(tableSize(samples) / WORD);
    table[0] = samples;
    table[1] = first;
    for (let i = 0; i < samples; i++) table[2 + i] = first + this.#ends.at(i);
    const head = new Uint8Array(first);
    head.set(new Uint8Array(table.buffer));
    head.set(this.#config, table.byteLength);
    return head;
  }

  /** Returns the configuration, with sorted keys. */
  #facts() {
    const { columns, sizeLimit } = this.#form;
    return {
      column_encodings: columns.map(({ encoding }) => encoding.word),
      column_names: columns.map(({ name }) => name),
      column_sizes: columns.map(({ encoding }) => encoding.size ?? null),
      compression: null,
      format: FORMAT,
      hashes: [HASH],
      size_limit: Number.isFinite(sizeLimit) ? sizeLimit : null,
      version: VERSION,
    };
  }
}
