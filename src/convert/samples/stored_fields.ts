import { messageOf } from "../../base/message_text.ts";
import { assertPlainJson } from "../../codecs/json/plain_json.ts";
import { formatJson } from "../../codecs/json/format.ts";
import type { ExactJson } from "../../codecs/json/value.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { Field } from "../../tree/samples/samples.ts";
import {
  ConversionError,
  isAboutValue,
  type PlanNotes,
  type Run,
} from "../conversion.ts";
import type { FieldSurvey, SampleRow, SampleRows } from "./sample_rows.ts";

/** Field with a sample's key: WebDataset's `__key__`. */
export const KEY_FIELD = "__key__";

/** How a target stores the values of a field. */
export interface StoredField {
  readonly field: Field;
  readonly name: string;
  readonly type: string;
  /** Whether samples may lack it. */
  readonly isOptional?: boolean;
  /** Value stored if a sample lacks it. If absent, and the field is not optional, such samples are skipped. */
  readonly empty?: EmptyValue | undefined;
  /** Whether values are stored as JSON, which cannot represent all of them. */
  readonly isJson?: boolean;
  /** What changes for readers, to follow the field's name in a sentence. */
  readonly change?: string | undefined;
  /** What every value loses, in the same form. */
  readonly loss?: string | undefined;
  /** Encodes a value, neither `null` nor `undefined`, for the target's writer. Throws what is wrong with the value. */
  encode(value: unknown): unknown;
}

/** Substitute for a missing value. */
export interface EmptyValue {
  readonly stored: unknown;
  /** Description, such as `an empty text`; absent if it means the same as no value. */
  readonly isLossOf?: string | undefined;
}

/** Chooses how a target stores a field; `undefined` if it cannot. */
export type StoreField = (
  field: Field,
  survey: FieldSurvey,
) => StoredField | undefined;

export interface StoredSample {
  readonly index: number;
  readonly name: string;
  /** Values in field order; `undefined` for a missing optional field. */
  readonly values: readonly unknown[];
}

export class StoredSamples {
  /** Fields in source order. */
  readonly fields: readonly StoredField[];
  readonly #rows: SampleRows;
  /** Fields whose absence the plan has already reported. */
  readonly #lacking: ReadonlySet<string>;

  private constructor(
    rows: SampleRows,
    fields: readonly StoredField[],
    lacking: ReadonlySet<string>,
  ) {
    this.#rows = rows;
    this.fields = fields;
    this.#lacking = lacking;
  }

  /**
   * Plans how to store samples, and notes what is kept, changed and lost.
   *
   * @throws {ConversionError} If none of their fields can be stored.
   */
  static async plan(
    rows: SampleRows,
    path: string,
    notes: PlanNotes,
    store: StoreField,
    options: WaitOptions,
  ): Promise<StoredSamples> {
    const survey = await rows.survey(options);
    const stored: StoredField[] = [];
    const lacking = new Set<string>();
    notes.kept.push(
      "values, the names and types of fields, the order of samples",
    );
    for (const field of rows.fields) {
      const facts = survey.get(field.name)!;
      if (facts.isAbsent) continue;
      const made = store(field, facts);
      const quoted = `'${field.name}'`;
      const why = whyNowhere(made, facts, rows.length);
      if (made === undefined || why !== undefined) {
        notes.lost.push(`the field ${quoted}, ${why ?? typeName(field)}`);
        continue;
      }
      stored.push(made);
      const { change, loss } = made;
      if (change !== undefined) notes.changed.push(`${quoted} ${change}`);
      if (loss !== undefined) notes.lost.push(`${quoted} ${loss}`);
      const missing = lossOfMissing(made, facts.missing, rows.length);
      if (missing !== undefined) {
        lacking.add(field.name);
        notes.lost.push(missing);
      }
      if (made.isJson === true && facts.beyondJson > 0) {
        notes.lost.push(
          `samples whose ${quoted} cannot be written as JSON (${facts.beyondJson} of ${rows.length})`,
        );
      }
    }
    if (stored.length === 0) {
      throw new ConversionError(
        "cannot-convert",
        `Cannot convert ${path}: its samples have no field that the target can store`,
        path,
      );
    }
    notes.changed.push(`fields are ${listOf(stored)}`);
    return new StoredSamples(rows, stored, lacking);
  }

  /** Number of samples, including skipped ones. */
  get length(): number {
    return this.#rows.length;
  }

  /** Reads and encodes samples; skips those that cannot be stored. */
  async *read(run: Run): AsyncGenerator<StoredSample, void, undefined> {
    const { signal } = run;
    const fields = this.fields.map(({ field }) => field.name);
    const onDamage = (error: Error) => run.leaveOut(error.message, error);
    for await (const row of this.#rows.read({ signal, fields }, onDamage)) {
      const values = await this.#encode(row, run);
      if (values !== undefined) {
        yield { index: row.index, name: row.name, values };
      }
    }
  }

  /** Encodes the values of a sample; `undefined` if it is skipped. */
  async #encode(
    { name: sample, values }: SampleRow,
    run: Run,
  ): Promise<unknown[] | undefined> {
    const made: unknown[] = [];
    for (const { field: { name }, isOptional, empty, encode } of this.fields) {
      const value = values[name];
      if (value === null || value === undefined) {
        const isKnown = this.#lacking.has(name);
        const isLost = isOptional !== true &&
          (empty === undefined || empty.isLossOf !== undefined);
        const why = `${sample}: it has no '${name}'`;
        if (isLost && empty === undefined) {
          if (!isKnown) run.leaveOut(why);
          return undefined;
        }
        if (isLost && !isKnown) run.lose(why);
        made.push(empty?.stored);
        continue;
      }
      try {
        made.push(await encode(value));
      } catch (cause) {
        if (!isAboutValue(cause)) throw cause;
        run.leaveOut(`${sample}: its '${name}': ${messageOf(cause)}`, cause);
        return undefined;
      }
    }
    return made;
  }
}

/** Explains why no sample can store a field; `undefined` if some can. */
function whyNowhere(
  made: StoredField | undefined,
  { missing, beyondJson }: FieldSurvey,
  all: number,
): string | undefined {
  if (all === 0) return undefined;
  if (missing === all && made?.isOptional !== true) {
    return "which no sample has";
  }
  return missing + beyondJson === all && made?.isJson === true
    ? "whose values cannot be written as JSON"
    : undefined;
}

/** Describes the loss from missing values; `undefined` if there is none. */
function lossOfMissing(
  { field: { name }, isOptional, empty }: StoredField,
  missing: number,
  all: number,
): string | undefined {
  if (missing === 0 || isOptional === true) return undefined;
  const count = `${missing} of ${all}`;
  if (empty === undefined) return `samples without '${name}' (${count})`;
  return empty.isLossOf === undefined
    ? undefined
    : `that '${name}' is missing in ${count} samples, where it becomes ${empty.isLossOf}`;
}

function typeName({ type, isList }: Field): string {
  return isList ? `lists of ${type.name}` : type.name;
}

function listOf(fields: readonly StoredField[]): string {
  return fields.map(({ name, type }) => `${name} (${type})`).join(", ");
}

/** Formats a value as JSON; throws a `TypeError` if JSON cannot represent it. */
export function jsonText(value: unknown): string {
  assertPlainJson(value, true, "JSON");
  return formatJson(value as ExactJson);
}
