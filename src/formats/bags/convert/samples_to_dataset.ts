import {
  MsgpackFloat,
  type PackableValue,
  writeMsgpack,
} from "../../../codecs/msgpack/mod.ts";
import type { NpyContent } from "../../../codecs/numpy/npy.ts";
import { jpegOrPng } from "../../../codecs/values/value_type.ts";
import {
  type Conversion,
  type ConvertOptions,
  type PlanNotes,
} from "../../../convert/conversion.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import {
  isArrayType,
  numbersArray,
} from "../../../convert/samples/numbers_array.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import {
  type EmptyValue,
  type StoredField,
  StoredSamples,
  type StoreField,
} from "../../../convert/samples/stored_fields.ts";
import type { Field } from "../../../tree/samples/samples.ts";
import { type Generation, mayBeEmpty } from "../dataset/dataset_names.ts";
import { keyFor, writtenSpec } from "../dataset/spec.ts";
import { encodeArrayValue } from "../types/array.ts";
import { intEncoder, intOptionsOf } from "../types/int.ts";
import { encodeUtf8 } from "../types/text.ts";
import { encodeTree } from "../../../codecs/values/array_tree.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";

/** Converts samples of any format to datapoints, whose values keep their types. */
export async function samplesToDataset(
  rows: SampleRows,
  source: ConversionSource,
  target: string,
  notes: PlanNotes,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3 } = options;
  const samples = await StoredSamples.plan(
    rows,
    source.path,
    notes,
    storeFields(generation),
    options,
  );
  const { fields } = samples;
  const spec = Object.fromEntries(fields.map(({ name, type }) => [name, type]));
  writtenSpec(spec, generation, target); // refuses keys that cannot be file names
  return datasetConversion(source, target, options, {
    spec,
    notes,
    unit: "datapoints",
    total: samples.length,
    async fill(dataset, run) {
      for await (const { name, values } of samples.read(run)) {
        await dataset.append(
          name,
          () =>
            Object.fromEntries(fields.map(({ name }, i) => [name, values[i]])),
        );
      }
    },
  });
}

function storeFields(generation: Generation): StoreField {
  const int = intEncoder(intOptionsOf(generation));
  const ofValue = (field: Field): readonly [string, Encode, string?] => {
    const { type } = field;
    const { kind, decoding, elements, scalar, suffix } = type;
    if (scalar === "bool") return ["msgpack", packed];
    if (scalar?.startsWith("float")) return ["msgpack", packedFloat];
    if (scalar !== undefined) return ["int", int as Encode];
    switch (kind) {
      case "text":
        return ["utf8", (text) => encodeUtf8(text as string)];
      case "array":
        return ["array", (array) => encodeArrayValue(array as NpyContent)];
      case "number":
        return ["msgpack", packed];
      case "tree":
        return decoding === "pickle"
          ? ["bytes", same, "becomes the bytes of a pickle"]
          : elements === undefined
          ? ["tree", (value) => encodeTree(value as never)]
          : ["array", (list) => encodeArrayValue(numbersArray(list, elements))];
      case "image":
        switch (jpegOrPng(type)) {
          case "png":
            return ["png", same];
          case "jpeg":
            return [generation === 1 ? "jpeg" : "jpg", same];
        }
        break;
      case "video":
        if (suffix === ".mp4") return ["mp4", same];
        if (suffix === ".webm") return ["webm", same];
    }
    return ["bytes", same];
  };
  const taken = new Set<string>();
  return (field, { unfilled, beyondJson }) => {
    const { isList, type } = field;
    const name = keyFor(field.name, taken);
    taken.add(name);
    const renamed = name === field.name ? undefined : `is renamed to '${name}'`;
    let [word, encode, change] = ofValue(field);
    const isPlainTree = word === "tree" && beyondJson === 0;
    const hasNulls = type.elements !== undefined &&
      (unfilled > 0 || !isArrayType(type.elements));
    if (isPlainTree || hasNulls) [word, encode] = ["msgpack", packed];
    const empty = emptyOf(word, generation);
    const stored = (type: string, more: Partial<StoredField>): StoredField => {
      const changes = [renamed, more.change ?? change];
      return {
        field,
        name,
        type,
        encode: (value) => fitting(name, generation, () => encode(value)),
        ...more,
        change: changes.filter((one) => one !== undefined).join(", and ") ||
          undefined,
      };
    };
    if (!isList) return stored(word, { empty });
    if (generation !== 3) {
      const fit: Encode = (item) =>
        fitting(name, generation, () => encode(item));
      return stored(`${word}[]`, { encode: (list) => eachOf(list, fit) });
    }
    const isTree = type.kind === "array" || type.kind === "tree";
    return stored(isTree ? "tree" : "msgpack", {
      change:
        "becomes one value that is a list: generation 3 has no list types",
      encode: async (list) => {
        const items = await Array.fromAsync(list as Iterable<never>);
        return isTree ? encodeTree(items) : packed(items);
      },
    });
  };
}

/** Returns the substitute for a missing value, if the type has one. */
function emptyOf(
  word: string,
  generation: Generation,
): EmptyValue | undefined {
  if (word === "msgpack" || word === "tree") return { stored: packed(null) };
  if (!mayBeEmpty(generation)) return undefined;
  const stored = new Uint8Array(0);
  if (word === "utf8") return { stored, isLossOf: "an empty text" };
  return word === "bytes" ? { stored, isLossOf: "no bytes" } : undefined;
}

type Encode = (value: unknown) => Uint8Array;

const same: Encode = (value) => value as Uint8Array;
const packed: Encode = (value) => writeMsgpack(value as PackableValue);
const packedFloat: Encode = (value) =>
  writeMsgpack(new MsgpackFloat(Number(value)));

async function* eachOf(
  list: unknown,
  make: Encode,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const item of list as Iterable<unknown>) yield make(item);
}
