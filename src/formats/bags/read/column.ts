import { messageOf } from "../../../base/message_text.ts";
import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import type { Spans } from "../../../tree/limits/limited_records.ts";
import type { Bag } from "../bag/bag.ts";
import type { SpecKey, ValueType } from "../dataset/spec.ts";
import { allEnded } from "./made_values.ts";
import { codecOf, type Decoder, type Decoders } from "../types/shipped.ts";

export type Raw = Uint8Array<ArrayBuffer>;

/** Values of a key: reads and decodes records. */
export class Column {
  readonly key: string;
  readonly type: ValueType;
  readonly bag: Bag;
  readonly #decoder: Decoder | undefined;
  readonly #args: readonly string[];

  /** @param decoders `null` if values are bytes. */
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

  /** Whether there is a decoder; otherwise values are bytes. */
  get decodes(): boolean {
    return this.#decoder !== undefined;
  }

  /**
   * Decodes a value: a record, or a list of records.
   *
   * @param mayWait Whether the result may be a promise. An error is then a rejected promise.
   * @throws {FormatError} With code `bad-value`.
   * @throws {TypeError} If the decoder is asynchronous and `mayWait` is `false`.
   */
  decode(value: Raw | Raw[], datapoint: number, mayWait: boolean): unknown {
    if (!Array.isArray(value)) return this.#decode(value, datapoint, mayWait);
    const list = value.map((one) => this.#decode(one, datapoint, mayWait));
    return list.some((one) => one instanceof Promise) ? allEnded(list) : list;
  }

  /**
   * Reads the records of datapoints; lists of them for a list type. Adjacent records are read at once, and shared ones
   * only once, so memory use is limited by the size of the bag.
   */
  *read(spans: Spans, memory?: GrowingMemory): Steps<(Raw | Raw[])[]> {
    const values: (Raw | Raw[])[] = [];
    for (const { first, end, spans: own } of runsOf(spans)) {
      const read = yield* this.bag.readRun(first, end - first, memory);
      for (const i of own) {
        const from = spans.first[i]! - first;
        values[i] = this.type.isList
          ? read.slice(from, from + spans.count[i]!)
          : read[from]!;
      }
    }
    return values;
  }

  #decode(bytes: Raw, datapoint: number, mayWait: boolean): unknown {
    const decoder = this.#decoder;
    if (decoder === undefined) return bytes;
    const args = this.#args;
    let value: unknown;
    try {
      value = args.length === 0 ? decoder(bytes) : decoder(bytes, ...args);
    } catch (cause) {
      const bad = this.#bad(datapoint, cause);
      if (!mayWait) throw bad;
      return Promise.reject(bad);
    }
    if (!(value instanceof Promise)) return value;
    if (mayWait) {
      return value.catch((cause) => {
        throw this.#bad(datapoint, cause);
      });
    }
    value.catch(() => {}); // its result is dropped
    throw new TypeError(
      `The decoder of '${this.key}' (${this.type.word}) is asynchronous: ` +
        "use the asynchronous method",
    );
  }

  #bad(datapoint: number, cause: unknown): FormatError {
    const { path } = this.bag;
    const reason = messageOf(cause);
    return new FormatError(
      "bad-value",
      `Cannot decode '${this.key}' of datapoint ${datapoint} of ${path} ` +
        `as ${this.type.word}: ${reason}`,
      { path, sample: datapoint, cause },
    );
  }
}

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

function orderOf({ first }: Spans): Uint32Array {
  const order = new Uint32Array(first.length);
  let ascends = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (i > 0 && first[i]! < first[i - 1]!) ascends = false;
  }
  return ascends ? order : order.sort((a, b) => first[a]! - first[b]!);
}
