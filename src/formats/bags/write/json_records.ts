import {
  decodeText,
  type ExactJson,
  parseExactJson,
} from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { RecordfsError } from "../../../errors.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import type { Datapoint } from "../read/selection.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { parseType, type Spec, type ValueType } from "../dataset/spec.ts";
import { type Encoders, encodersOf } from "../types/shipped.ts";
import { plainNumber } from "../types/array_rows.ts";
import { parsedJsonToValue } from "../types/json_values.ts";

/** The types whose values JSON can hold; those of others, such as `jpeg`, are bytes. */
const JSON_TYPES = ["array", "i64", "int", "msgpack", "tree", "u64", "utf8"];

const WHOLE_NUMBERS = ["i64", "int", "u64"];

/** The only key of an object that names a file. */
const FILE = "$file";

/**
 * Makes records of datapoints that are lines of JSON: an object with the spec's keys, its values as
 * `valueToJson` writes them. A value `{"$file": "path"}`, of any type, is a file that is the record.
 */
export class JsonRecords {
  readonly #types: ReadonlyMap<string, ValueType>;
  readonly #encoders: Encoders;
  readonly #file: (path: string) => SampleData;

  /** @param file Gives the content of a file that a line names. */
  constructor(
    spec: Spec,
    generation: Generation,
    file: (path: string) => SampleData,
  ) {
    const entries = Object.entries(spec);
    this.#types = new Map(
      entries.map(([key, word]) => [key, parseType(word, generation !== 3)]),
    );
    const shipped = encodersOf(generation);
    this.#encoders = Object.fromEntries(
      JSON_TYPES.map((type) => [type, shipped[type]!]),
    );
    this.#file = file;
  }

  /**
   * The records of a datapoint, for a writer without encoders, which says which keys are missing or
   * too many.
   *
   * @throws {RecordfsError} If the line is no object in JSON, or a value is none of its type
   * (`bad-value`, and the message names its key).
   */
  parse(line: Uint8Array): Datapoint {
    const datapoint: Datapoint = {};
    for (const [key, json] of entriesOf(line)) {
      const type = this.#types.get(key);
      const isList = type?.isList === true && Array.isArray(json);
      const value = type === undefined || type.isList && !isList
        ? json // the writer says what is wrong with it
        : isList
        ? json.map((item, i) => this.#record(item, type, `${key}[${i}]`))
        : this.#record(json, type, key);
      setOwn(datapoint, key, value);
    }
    return datapoint;
  }

  #record(json: ExactJson, type: ValueType, name: string): SampleData {
    try {
      const path = fileOf(json);
      return path === undefined ? this.#encode(json, type) : this.#file(path);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RecordfsError(
        "bad-value",
        `the value of '${name}', of type '${type.word}': ${reason}`,
        { cause },
      );
    }
  }

  #encode(json: ExactJson, { word, name, args }: ValueType): Uint8Array {
    const read = parsedJsonToValue(json, word);
    // Of a whole number, the type says what it is, not the point with which some write it.
    const value = WHOLE_NUMBERS.includes(name) ? plainNumber(read) : read;
    if (Object.hasOwn(this.#encoders, name)) {
      // Those of JSON_TYPES have nothing to wait for.
      return this.#encoders[name]!(value as never, ...args) as Uint8Array;
    }
    if (value instanceof Uint8Array) return value;
    throw new TypeError(
      `it must be {"$bytes": "base64"} or {"${FILE}": "path"}` +
        (word.endsWith("[]") ? "; generation 3 has no lists" : ""),
    );
  }
}

/** The path that a value names, if it names one. */
function fileOf(json: ExactJson): string | undefined {
  const isReference = typeof json === "object" && json !== null &&
    Object.hasOwn(json, FILE) && Object.keys(json).length === 1;
  if (!isReference) return undefined;
  const path = (json as { readonly [FILE]: ExactJson })[FILE];
  if (typeof path === "string" && path !== "" && !path.includes("\0")) {
    return path;
  }
  throw new TypeError(`{"${FILE}": …} must name the path of a file`);
}

function entriesOf(line: Uint8Array): Iterable<[string, ExactJson]> {
  if (line.length === 0) throw new RecordfsError("bad-json", "it is empty");
  let value: ExactJson;
  try {
    value = parseExactJson(decodeText(line));
  } catch (cause) {
    const { message } = cause as Error;
    throw new RecordfsError("bad-json", `it is not JSON: ${message}`, {
      cause,
    });
  }
  if (value instanceof Map) return value;
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value) && !(value instanceof MsgpackFloat);
  if (isObject) return Object.entries(value as { [key: string]: ExactJson });
  throw new RecordfsError(
    "bad-json",
    `it is no object with a value for each key, such as {"text": "hello"}`,
  );
}
