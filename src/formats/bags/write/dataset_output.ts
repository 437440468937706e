import { MsgpackWriter } from "../../../codecs/msgpack/write_msgpack.ts";
import type { Datapoint } from "../read/selection.ts";
import { WriteError } from "../../../base/errors.ts";
import {
  forEachPulled,
  isAsyncIterable,
} from "../../../io/concurrency/for_each_pulled.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BagOutput } from "./bag_output.ts";
import type { ValueEncoder } from "./value_encoder.ts";

interface DatasetBags {
  readonly directory: string;
  /** Encoders in the order of the keys. */
  readonly encoders: readonly ValueEncoder[];
  readonly bags: readonly BagOutput[];
  /** References; generation 3 has none. */
  readonly refs?: BagOutput | undefined;
}

/** Writes datapoints to the bags of a dataset. A failed datapoint leaves all bags as they were before it. */
export class DatasetOutput {
  readonly #of: DatasetBags;
  readonly #all: readonly BagOutput[];
  /** Reused for every datapoint. */
  readonly #references = new MsgpackWriter();
  #length: number;

  constructor(of: DatasetBags) {
    this.#of = of;
    this.#all = of.refs === undefined ? of.bags : [of.refs, ...of.bags];
    this.#length = this.#all[0]!.length;
  }

  get length(): number {
    return this.#length;
  }

  get size(): number {
    return this.#all.reduce((sum, { size }) => sum + size, 0);
  }

  *append(datapoint: Readonly<Datapoint>): Steps<number> {
    if (!this.#hasKeys(datapoint)) this.#refuseKeys(datapoint);
    if (this.#needsFlush) yield* this.flush(false);
    try {
      yield* this.#append(datapoint);
    } catch (error) {
      for (const bag of this.#all) bag.takeBack();
      throw error;
    }
    for (const bag of this.#all) bag.keep();
    return this.#length++;
  }

  /** Writes all buffered bytes: all records before any index that names them. */
  *flush(sync: boolean): Steps<void> {
    yield* inParallel(this.#all.map((bag) => bag.flushRecords(sync)));
    yield* inParallel(this.#all.map((bag) => bag.flushIndex(sync)));
  }

  *finish(): Steps<void> {
    yield* this.flush(false); // a lack of space shows before the first bag is complete
    yield* inParallel(this.#all.map((bag) => bag.finish()));
  }

  close(): void {
    for (const bag of this.#all) bag.close();
  }

  get #needsFlush(): boolean {
    for (const bag of this.#all) if (bag.needsFlush) return true;
    return false;
  }

  *#append(datapoint: Readonly<Datapoint>): Steps<void> {
    const { bags, encoders, refs } = this.#of;
    const references = this.#references;
    references.clear();
    references.listHead(bags.length);
    for (let i = 0; i < bags.length; i++) {
      const bag = bags[i]!;
      const encoder = encoders[i]!;
      const value = datapoint[encoder.key.key];
      const first = bag.length;
      if (encoder.key.type.isList) {
        yield* this.#appendList(bag, encoder, value);
        const count = bag.length - first;
        references.listHead(count === 0 ? 0 : 2);
        if (count > 0) {
          references.int(first);
          references.int(count);
        }
      } else {
        // Usually synchronous: a generator would take longer than the rest.
        const encoded = encoder.encode(value, this.#length);
        const isDone = encoded instanceof Uint8Array &&
          bag.appendAtOnce(encoded);
        if (!isDone) yield* this.#appendValue(bag, encoder, encoded);
        references.int(first);
      }
    }
    if (refs !== undefined) yield* refs.append(references.written);
  }

  *#appendValue(
    bag: BagOutput,
    encoder: ValueEncoder,
    encoded: SampleData | Promise<unknown>,
  ): Steps<void> {
    const record = encoded instanceof Promise
      ? yield* encoder.wait(encoded, this.#length)
      : encoded;
    yield* bag.append(record);
  }

  /** Appends a list, with one value in memory at a time. */
  *#appendList(
    bag: BagOutput,
    encoder: ValueEncoder,
    values: unknown,
  ): Steps<void> {
    const length = this.#length;
    const append = (value: unknown): Steps<void> =>
      this.#appendValue(bag, encoder, encoder.encode(value, length));
    if (isIterable(values)) {
      for (const value of values) yield* append(value);
    } else if (isAsyncIterable(values)) {
      yield* forEachPulled(
        values,
        `The list '${encoder.key.key}' is asynchronous: use write() ` +
          "instead of writeSync()",
        append,
      );
    } else throw this.#noList(encoder);
  }

  #noList({ key: { key, type } }: ValueEncoder): WriteError {
    const { directory } = this.#of;
    return new WriteError(
      "bad-value",
      `Cannot write '${key}' of datapoint ${this.#length} of ` +
        `${directory}: its type is '${type.word}[]', so the value must be ` +
        "an array or another iterable, and not a string",
      { path: directory, sample: this.#length },
    );
  }

  /** Whether a datapoint has exactly the keys of the spec. */
  #hasKeys(datapoint: Readonly<Datapoint>): boolean {
    if (typeof datapoint !== "object" || datapoint === null) return false;
    const { encoders } = this.#of;
    for (let i = 0; i < encoders.length; i++) {
      if (!Object.hasOwn(datapoint, encoders[i]!.key.key)) return false;
    }
    return Object.keys(datapoint).length === encoders.length;
  }

  #refuseKeys(datapoint: Readonly<Datapoint>): void {
    const { directory, encoders } = this.#of;
    const given = typeof datapoint === "object" && datapoint !== null
      ? Object.keys(datapoint)
      : [];
    const keys = encoders.map(({ key }) => key.key);
    const missing = keys.filter((key) => !Object.hasOwn(datapoint ?? {}, key));
    const surplus = given.length + missing.length === keys.length
      ? []
      : given.filter((key) => !keys.includes(key));
    if (missing.length === 0 && surplus.length === 0) return;
    const what = [
      ...missing.length > 0 ? [`it has no ${quoted(missing)}`] : [],
      ...surplus.length > 0 ? [`the spec has no ${quoted(surplus)}`] : [],
    ];
    throw new WriteError(
      "bad-datapoint",
      `Cannot write datapoint ${this.#length} of ${directory}: ${
        what.join(", and ")
      }`,
      { path: directory, sample: this.#length, expected: keys, actual: given },
    );
  }
}

function quoted(keys: readonly string[]): string {
  return keys.map((key) => `'${key}'`).join(", ");
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null &&
    Symbol.iterator in value;
}
