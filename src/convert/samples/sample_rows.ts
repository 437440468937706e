import { assertPlainJson } from "../../codecs/json/plain_json.ts";
import type { FormatError } from "../../base/errors.ts";
import { ahead } from "../../io/concurrency/ahead.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { isDamage } from "../../tree/samples/open_shards.ts";
import type {
  Field,
  PortableSamples,
  Samples,
  SampleValues,
} from "../../tree/samples/samples.ts";

/** Target size of a batch in bytes, estimated from the previous batch, and maximum number of samples. */
const BATCH_BYTES = 4 << 20;
const MOST_IN_BATCH = 256;
/** Maximum growth of the number of samples from one batch to the next. */
const GROWTH = 4;

export interface SampleRow {
  readonly index: number;
  readonly name: string;
  /** Values by field name; `undefined` or `null` if missing. */
  readonly values: SampleValues;
}

/** Facts about a field's values, found by reading all of them. */
export interface FieldSurvey {
  /** Number of samples without a value. */
  missing: number;
  /** Number of values that JSON cannot represent. */
  beyondJson: number;
  /** Number of lists that are empty or contain `null`. */
  unfilled: number;
  /** Whether only samples that are not converted have the field. */
  isAbsent: boolean;
}

/** Samples to convert, with fields that other formats can store. */
export class SampleRows {
  readonly fields: readonly Field[];
  readonly unit: string;
  readonly #samples: Samples;
  readonly #portable: PortableSamples;
  readonly #path: string;
  readonly #indices: ArrayLike<number> | undefined;

  /** @param indices Samples to convert; defaults to all. */
  constructor(
    samples: Samples,
    portable: PortableSamples,
    path: string,
    indices?: ArrayLike<number>,
  ) {
    this.fields = portable.fields;
    this.unit = samples.unit;
    this.#samples = samples;
    this.#portable = portable;
    this.#path = path;
    this.#indices = indices;
  }

  get length(): number {
    return this.#indices?.length ?? this.#samples.shards.length;
  }

  /** Reads all samples. Calls `onDamage` for each unreadable one, in order; if it throws, the iteration ends. */
  async *read(
    { signal, fields }: WaitOptions & {
      readonly fields?: readonly string[] | undefined;
    },
    onDamage: (error: FormatError) => void,
  ): AsyncGenerator<SampleRow, void, undefined> {
    const batches = this.#batches(fields, signal, onDamage);
    for await (const { rows } of ahead(batches, ({ bytes }) => bytes)) {
      yield* rows;
    }
  }

  /** Surveys plain data, lists of numbers and missing values. Skips binary contents, to read them only once. */
  async survey(
    options: WaitOptions,
  ): Promise<ReadonlyMap<string, FieldSurvey>> {
    const { isNullable } = this.#portable;
    // Of some samples, only reading tells which lack a field.
    const isCounted = this.#indices !== undefined;
    const missing = isCounted ? undefined : this.#portable.missing;
    const mayMiss = ({ name }: Field) =>
      isCounted && (this.#portable.missing?.get(name) ?? 0) > 0;
    const found = new Map(
      this.fields.map(({ name }): [string, FieldSurvey] => [
        name,
        {
          missing: missing?.get(name) ?? 0,
          beyondJson: 0,
          unfilled: 0,
          isAbsent: false,
        },
      ]),
    );
    const wanted = this.fields.filter((field) =>
      isTree(field) || isNullable && isSmall(field) || mayMiss(field)
    );
    if (wanted.length === 0) return found;
    const fields = wanted.map(({ name }) => name);
    for await (
      const { values } of this.read({ ...options, fields }, () => {})
    ) {
      for (const field of wanted) {
        const { name, type, isList } = field;
        const facts = found.get(name)!;
        const value = values[name];
        if (value === null || value === undefined) {
          if (isNullable || mayMiss(field)) facts.missing++;
        } else if (type.elements !== undefined) {
          const list = value as readonly unknown[];
          const isFilled = list.length > 0 && !list.includes(null);
          if (!isFilled) facts.unfilled++;
        } else if (type.kind === "tree" && !isList && !isJson(value)) {
          facts.beyondJson++;
        }
      }
    }
    for (const field of wanted) {
      const facts = found.get(field.name)!;
      facts.isAbsent = mayMiss(field) && facts.missing === this.length;
    }
    return found;
  }

  async *#batches(
    fields: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    onDamage: (error: FormatError) => void,
  ): AsyncGenerator<{ rows: SampleRow[]; bytes: number }, void, undefined> {
    const { length } = this;
    let count = 1;
    for (let start = 0; start < length;) {
      const end = Math.min(length, start + count);
      const indices = Array.from(
        { length: end - start },
        (_, i) => this.#indices?.[start + i] ?? start + i,
      );
      const rows = await this.#rows(indices, fields, signal, onDamage);
      const bytes = rows.reduce((sum, { values }) => sum + sizeOf(values), 0);
      yield { rows, bytes };
      const average = Math.max(1, bytes / (end - start));
      count = Math.max(
        1,
        Math.min(
          Math.floor(BATCH_BYTES / average),
          MOST_IN_BATCH,
          count * GROWTH,
        ),
      );
      start = end;
    }
  }

  /** Reads a batch; if a sample is damaged, reads each separately. */
  async #rows(
    indices: readonly number[],
    fields: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    onDamage: (error: FormatError) => void,
  ): Promise<SampleRow[]> {
    try {
      return await this.#readRows(indices, fields, signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (indices.length === 1) {
        onDamage(error);
        return [];
      }
    }
    const rows: SampleRow[] = [];
    for (const index of indices) {
      rows.push(...await this.#rows([index], fields, signal, onDamage));
    }
    return rows;
  }

  async #readRows(
    indices: readonly number[],
    fields: readonly string[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<SampleRow[]> {
    const raw = await runAsync(
      this.#portable.read(indices, { fields }),
      signal,
    );
    const rows: SampleRow[] = [];
    for (const [i, index] of indices.entries()) {
      rows.push({
        index,
        name: `${this.unit} ${index} of ${this.#path}`,
        values: await this.#portable.decode(index, raw[i]),
      });
    }
    return rows;
  }
}

function isTree({ type: { kind, elements }, isList }: Field): boolean {
  return !isList && (kind === "tree" || elements !== undefined);
}

function isSmall({ type: { kind } }: Field): boolean {
  return kind === "number" || kind === "text" || kind === "tree";
}

export function isJson(value: unknown): boolean {
  try {
    assertPlainJson(value, true, "JSON");
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.reduce((sum: number, item) => sum + sizeOf(item), 16);
}
