import { messageOf } from "../../../base/message_text.ts";
import { FormatError } from "../../../base/errors.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import type { Bag, Spans } from "../bag/bag.ts";
import type { SpecKey, ValueType } from "../dataset/spec.ts";
import { codecOf, type Decoder, type Decoders } from "../types/shipped.ts";

/** Values of a key: their records, and what is made of them. */
export class Column {
  readonly key: string;
  readonly type: ValueType;
  readonly bag: Bag;
  readonly #decoder: Decoder | undefined;
  readonly #args: readonly string[];

  /** @param decoders `null` for values that are bytes. */
  constructor(
    { key, type }: SpecKey,
    bag: Bag,
    decoders: Decoders | null,
  ) {
    this.key = key;
    this.type = type;
    this.bag = bag;
    const { codec, args } = codecOf(decoders, type);
    this.#decoder = codec;
    this.#args = args;
  }

  /** There is a decoder: otherwise values are bytes. */
  get decodes(): boolean {
    return this.#decoder !== undefined;
  }

  /**
   * Makes the value of a record.
   *
   * @throws {FormatError} With code `bad-value`.
   * @throws {TypeError} If the decoder needs to be waited for.
   */
  decodeSync(bytes: Uint8Array<ArrayBuffer>, datapoint: number): unknown {
    const value = this.begin(bytes, datapoint);
    if (value instanceof Promise) this.#refuse(value);
    return value;
  }

  /**
   * Makes the value of a record, or the promise of it.
   *
   * @throws {FormatError} With code `bad-value`; a promise rejects with it.
   */
  begin(bytes: Uint8Array<ArrayBuffer>, datapoint: number): unknown {
    const decoder = this.#decoder;
    if (decoder === undefined) return bytes;
    const args = this.#args;
    try {
      const value = args.length === 0
        ? decoder(bytes)
        : decoder(bytes, ...args);
      if (!(value instanceof Promise)) return value;
      return value.catch((cause) => {
        throw this.#bad(datapoint, cause);
      });
    } catch (cause) {
      throw this.#bad(datapoint, cause);
    }
  }

  /**
   * Reads the values of datapoints: lists of them, for a list type. Records that follow each other are
   * read in one go, and those that several datapoints share once: no more memory is taken than the bag
   * has bytes.
   *
   * @param start The first datapoint, for messages.
   * @param spans The records of each.
   */
  *read(start: number, spans: Spans, memory?: GrowingMemory): Steps<unknown[]> {
    const records: Uint8Array<ArrayBuffer>[][] = [];
    for (const run of runsOf(spans)) {
      const read = yield* this.bag.readRun(
        run.first,
        run.end - run.first,
        memory,
      );
      for (const i of run.spans) {
        const from = spans.first[i]! - run.first;
        records[i] = read.slice(from, from + spans.count[i]!);
      }
    }
    const values: unknown[] = [];
    for (let i = 0; i < records.length; i++) {
      const decoded: unknown[] = [];
      for (const bytes of records[i]!) {
        decoded.push(yield* this.#decodeNow(bytes, start + i));
      }
      values.push(this.type.isList ? decoded : decoded[0]);
    }
    return values;
  }

  /** Reads the value of one datapoint, or the list of them. */
  *readOne(
    datapoint: number,
    first: number,
    count: number,
    memory: GrowingMemory | undefined,
  ): Steps<unknown> {
    const records = yield* this.bag.readRun(first, count, memory);
    if (!this.decodes) return this.type.isList ? records : records[0];
    const values: unknown[] = [];
    for (const bytes of records) {
      values.push(yield* this.#decodeNow(bytes, datapoint));
    }
    return this.type.isList ? values : values[0];
  }

  *#decodeNow(
    bytes: Uint8Array<ArrayBuffer>,
    datapoint: number,
  ): Steps<unknown> {
    const value = this.begin(bytes, datapoint);
    if (!(value instanceof Promise)) return value;
    return yield* perform<unknown>({
      sync: () => this.#refuse(value),
      async: () => value,
    });
  }

  #refuse(value: Promise<unknown>): never {
    value.catch(() => {}); // nobody will look at it
    throw new TypeError(
      `The decoder of '${this.key}' (${this.type.word}) needs to be waited for: use the asynchronous method`,
    );
  }

  #bad(datapoint: number, cause: unknown): FormatError {
    const { path } = this.bag;
    const reason = messageOf(cause);
    return new FormatError(
      "bad-value",
      `${path}: cannot decode '${this.key}' of datapoint ${datapoint} as ${this.type.word}: ${reason}`,
      { path, sample: datapoint, cause },
    );
  }
}

/** Spans that lie together. */
interface Run {
  readonly first: number;
  end: number;
  readonly spans: number[];
}

function runsOf(spans: Spans): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  for (const span of orderOf(spans)) {
    const first = spans.first[span]!;
    const end = first + spans.count[span]!;
    if (run !== undefined && first <= run.end) {
      run.end = Math.max(run.end, end);
      run.spans.push(span);
    } else {
      run = { first, end, spans: [span] };
      runs.push(run);
    }
  }
  return runs;
}

/** The spans by their first record. */
function orderOf({ first }: Spans): Uint32Array {
  const order = new Uint32Array(first.length);
  let ascends = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (i > 0 && first[i]! < first[i - 1]!) ascends = false;
  }
  return ascends ? order : order.sort((a, b) => first[a]! - first[b]!);
}
