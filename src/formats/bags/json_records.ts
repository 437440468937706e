import {
  decodeText,
  type JsonValue,
  parseJson,
} from "../../codecs/json/value.ts";
import { RecordfsError } from "../../errors.ts";
import type { SampleData } from "../../io/sample_data.ts";
import { type Datapoint, setValue } from "./datapoint.ts";
import type { Generation } from "./generation.ts";
import { parseType, type Spec, type ValueType } from "./spec.ts";
import type { Encoders } from "./types/codec_types.ts";
import { parsedJsonToValue } from "./types/json_to_value.ts";
import { encodersOf } from "./types/shipped.ts";

/** The types whose values JSON can hold; those of others, such as `jpeg`, are bytes. */
const JSON_TYPES = ["array", "i64", "int", "msgpack", "tree", "u64", "utf8"];

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
    for (const [key, json] of Object.entries(objectOf(line))) {
      const type = this.#types.get(key);
      const isList = type?.isList === true && Array.isArray(json);
      const value = type === undefined || type.isList && !isList
        ? json // the writer says what is wrong with it
        : isList
        ? json.map((item, i) => this.#record(item, type, `${key}[${i}]`))
        : this.#record(json, type, key);
      setValue(datapoint, key, value);
    }
    return datapoint;
  }

  #record(json: JsonValue, type: ValueType, name: string): SampleData {
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

  #encode(json: JsonValue, { word, name, args }: ValueType): Uint8Array {
    const value = parsedJsonToValue(json, word);
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
function fileOf(json: JsonValue): string | undefined {
  const isReference = typeof json === "object" && json !== null &&
    Object.hasOwn(json, FILE) && Object.keys(json).length === 1;
  if (!isReference) return undefined;
  const path = (json as { readonly [FILE]: JsonValue })[FILE];
  if (typeof path === "string" && path !== "" && !path.includes("\0")) {
    return path;
  }
  throw new TypeError(`{"${FILE}": …} must name the path of a file`);
}

function objectOf(line: Uint8Array): { readonly [key: string]: JsonValue } {
  if (line.length === 0) throw new RecordfsError("bad-json", "it is empty");
  let value: JsonValue;
  try {
    value = parseJson(decodeText(line));
  } catch (cause) {
    const { message } = cause as Error;
    throw new RecordfsError("bad-json", `it is not JSON: ${message}`, {
      cause,
    });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value;
  }
  throw new RecordfsError(
    "bad-json",
    `it is no object with a value for each key, such as {"text": "hello"}`,
  );
}
