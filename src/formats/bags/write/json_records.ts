import { messageOf } from "../../../base/message_text.ts";
import {
  decodeText,
  type ExactJson,
  parseExactJson,
} from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import type { Datapoint } from "../read/selection.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { parseType, type Spec, type ValueType } from "../dataset/spec.ts";
import { type Encoders, encodersOf } from "../types/shipped.ts";
import { plainNumber } from "../types/array_rows.ts";
import { parsedJsonToValue } from "../types/json_values.ts";

/** Types whose values JSON can express; values of others, such as `jpeg`, are bytes. */
const JSON_TYPES = ["array", "i64", "int", "msgpack", "tree", "u64", "utf8"];

const WHOLE_NUMBERS = ["i64", "int", "u64"];

const FILE = "$file";

/**
 * Returns a function that makes records of a line of JSON: an object with the spec's keys, and values as `valueToJson`
 * writes them. A value `{"$file": "path"}`, of any type, is a file whose content is the record; `file` opens it.
 *
 * The records are for a writer without encoders, which reports missing and surplus keys. The function throws a
 * {@linkcode RecordfsError} if the line is not a JSON object, or a value is not of its type (`bad-value`, with the key
 * in the message).
 */
export function jsonRecords(
  spec: Spec,
  generation: Generation,
  file: (path: string) => SampleData,
): (line: Uint8Array) => Datapoint {
  const types = new Map(
    Object.entries(spec)
      .map(([key, word]) => [key, parseType(word, generation !== 3)] as const),
  );
  const encoders = encodersOf(generation);
  const recordOf = (json: ExactJson, type: ValueType, name: string) => {
    try {
      const path = fileOf(json);
      return path === undefined ? encode(encoders, json, type) : file(path);
    } catch (cause) {
      const reason = messageOf(cause);
      throw new RecordfsError(
        "bad-value",
        `the value of '${name}', of type '${type.word}': ${reason}`,
        { cause },
      );
    }
  };
  return (line) => {
    const datapoint: Datapoint = {};
    for (const [key, json] of entriesOf(line)) {
      const type = types.get(key);
      const isList = type?.isList === true && Array.isArray(json);
      const value = type === undefined || type.isList && !isList
        ? json // the writer reports it
        : isList
        ? json.map((item, i) => recordOf(item, type, `${key}[${i}]`))
        : recordOf(json, type, key);
      setOwn(datapoint, key, value);
    }
    return datapoint;
  };
}

function encode(
  encoders: Encoders,
  json: ExactJson,
  { word, name, args }: ValueType,
): Uint8Array {
  const read = parsedJsonToValue(json, word);
  // Integers may be written with a point: the type decides.
  const value = WHOLE_NUMBERS.includes(name) ? plainNumber(read) : read;
  if (JSON_TYPES.includes(name)) {
    // Encoders of these types are synchronous.
    return encoders[name]!(value as never, ...args) as Uint8Array;
  }
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `it must be {"$bytes": "base64"} or {"${FILE}": "path"}` +
      (word.endsWith("[]") ? "; generation 3 has no lists" : ""),
  );
}

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
    `it is not an object with a value for each key, such as {"text": "hello"}`,
  );
}
