import { isWrittenAsInt, MsgpackFloat } from "../../../codecs/msgpack/value.ts";
import {
  encodeTree,
  type TreeContent,
} from "../../../codecs/values/array_tree.ts";
import { type NpyContent, writeNpy } from "../../../codecs/numpy/npy.ts";
import {
  extensionIn,
  EXTENSIONS,
  typeOfExtension,
  type ValueType,
} from "../../../codecs/values/value_type.ts";
import type { PlanNotes, Run } from "../../../convert/conversion.ts";
import {
  isArrayType,
  numbersArray,
} from "../../../convert/samples/numbers_array.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import {
  jsonText,
  KEY_FIELD,
  StoredSamples,
  type StoreField,
} from "../../../convert/samples/stored_fields.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { keyOfPath } from "../read/sample_keys.ts";

/** Digits of the index that replaces a missing sample key. */
const DIGITS = 6;
const LIST_DIGITS = 4;

/** File of a sample, with its extension after the key and a dot. */
interface Member {
  readonly extension: string;
  readonly bytes: Uint8Array;
}

/** WebDataset sample: files with a common key. */
export interface TarSampleMembers {
  readonly key: string;
  readonly members: readonly Member[];
}

/** Converts samples of any format to WebDataset samples. */
export class SampleMembers {
  readonly #samples: StoredSamples;

  private constructor(samples: StoredSamples) {
    this.#samples = samples;
  }

  static async plan(
    rows: SampleRows,
    path: string,
    notes: PlanNotes,
    options: WaitOptions,
  ): Promise<SampleMembers> {
    const storeField = memberFields();
    const samples = await StoredSamples.plan(
      rows,
      path,
      notes,
      storeField,
      options,
    );
    return new SampleMembers(samples);
  }

  /** Number of samples, including those that will be skipped. */
  get length(): number {
    return this.#samples.length;
  }

  /** Reads samples, skipping those with an invalid or duplicate key. */
  async *read(run: Run): AsyncGenerator<TarSampleMembers, void, undefined> {
    const { fields } = this.#samples;
    const ofKey = fields.findIndex(({ field }) => field.name === KEY_FIELD);
    const keys = new Set<string>();
    for await (const { index, name, values } of this.#samples.read(run)) {
      const own = values[ofKey] as string | undefined;
      const key = own ?? String(index).padStart(DIGITS, "0");
      if (keys.has(key) || !isKey(key)) {
        const why = keys.has(key)
          ? "is that of another sample"
          : "ends with a dot";
        run.leaveOut(`${name}: its key '${key}' ${why}`);
        continue;
      }
      const members = values.flatMap((value, i) =>
        i === ofKey || value === undefined ? [] : value as Member[]
      );
      if (members.length === 0) {
        run.leaveOut(`${name}: it has no value to write`);
        continue;
      }
      keys.add(key);
      yield { key, members };
    }
  }
}

/** Assigns filenames to fields, distinct for each field. */
function memberFields(): StoreField {
  const taken = new Set<string>();
  return (field, { beyondJson, unfilled }) => {
    const { name, isList, type } = field;
    if (name === KEY_FIELD && type.kind === "text" && !isList) {
      const encode = (key: unknown) => key;
      return { field, name, type: "key", isOptional: true, encode };
    }
    const { word, encode } = memberForm(type, beyondJson, unfilled > 0);
    const base = safeName(name);
    const isSaid = saysType(base, type, word);
    const own = isSaid ? extensionIn(base) : word;
    let stem = isSaid ? base.slice(0, -own.length).replace(/\.$/, "") : base;
    const extensionOf = (element = "") =>
      [stem, element, own].filter((part) => part !== "").join(".");
    for (let again = 2; taken.has(extensionOf()); again++) {
      stem = `${base}~${again}`;
    }
    taken.add(extensionOf());
    const change = base === name
      ? undefined
      : `is renamed to '${extensionOf()}'`;
    if (!isList) {
      const extension = extensionOf();
      return {
        field,
        name: extension,
        type: type.name,
        isOptional: true,
        change,
        encode: (value) => [{ extension, bytes: encode(value) }],
      };
    }
    const ofElement = (element: number) =>
      extensionOf(String(element).padStart(LIST_DIGITS, "0"));
    return {
      field,
      name: ofElement(0),
      type: `${type.name}, a file for each element`,
      isOptional: true,
      change,
      encode: async (list) =>
        await Array.fromAsync(list as Iterable<unknown>, (item, i) => ({
          extension: ofElement(i),
          bytes: encode(item),
        })),
    };
  };
}

/** Converts a name to the form that Python's `webdataset` uses: lower case, without path separators. */
function safeName(name: string): string {
  const safe = name.toLowerCase().replace(/[/\0]/g, "_");
  return safe === "" ? "value" : safe;
}

/** Whether a name's extension, such as `cls` or `seg.png`, tells the type of values with the extension `word`. */
function saysType(name: string, { kind }: ValueType, word: string): boolean {
  const own = extensionIn(name);
  if (!EXTENSIONS.includes(own)) return word === BYTES;
  const said = typeOfExtension(own);
  // A format without types of media, such as Parquet, has them in columns of bytes that keep their names.
  if (word === BYTES) return isMedia(said.kind);
  const wanted = typeOfExtension(word);
  const isSame = said.kind === wanted.kind && said.decoding === wanted.decoding;
  return isSame && (!isMedia(kind) || plain(own) === plain(word));
}

function isMedia(kind: ValueType["kind"]): boolean {
  return kind === "image" || kind === "video";
}

function plain(extension: string): string {
  return extension === "jpeg" ? "jpg" : extension;
}

/** Whether a key can be separated from the extension that follows it. */
function isKey(key: string): boolean {
  return key !== "" && !key.endsWith("/") && keyOfPath(`${key}.x`) === key;
}

/** File extension for a type of values, and their encoder. */
interface MemberForm {
  readonly word: string;
  readonly encode: (value: unknown) => Uint8Array;
}

/** Extension of bytes of unknown type. */
export const BYTES = "bin";
const UTF8 = new TextEncoder();
const text = (value: unknown) => UTF8.encode(String(value));
const json = (value: unknown) => UTF8.encode(jsonText(value));
const same = (value: unknown) => value as Uint8Array;

function memberForm(
  { kind, suffix, decoding, scalar, elements }: ValueType,
  beyondJson: number,
  hasNulls: boolean,
): MemberForm {
  const isArray = elements !== undefined && isArrayType(elements) && !hasNulls;
  if (isArray) {
    const encode = (list: unknown) => writeNpy(numbersArray(list, elements));
    return { word: "npy", encode };
  }
  switch (kind) {
    case "number":
      return scalar !== undefined && !scalar.startsWith("float")
        ? { word: "cls", encode: text }
        : { word: "json", encode: (value) => json(floatIn(value)) };
    case "text":
      return { word: "txt", encode: text };
    case "array":
      return { word: "npy", encode: (array) => writeNpy(array as NpyContent) };
    case "tree":
      if (decoding === "pickle") return { word: "pkl", encode: same };
      return beyondJson > 0
        ? {
          word: "mp", // which Python's webdataset decodes, other than "msgpack"
          encode: (value) => encodeTree(value as TreeContent),
        }
        : { word: "json", encode: json };
    default:
      return { word: suffix.slice(1) || BYTES, encode: same };
  }
}

/** Keeps a float with an integral value a float in JSON. */
function floatIn(value: unknown): unknown {
  return typeof value === "number" && isWrittenAsInt(value)
    ? new MsgpackFloat(value)
    : value;
}
