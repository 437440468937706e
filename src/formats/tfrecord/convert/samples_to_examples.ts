import { type NpyContent, writeNpy } from "../../../codecs/numpy/npy.ts";
import type { RecordSequence } from "../../../convert/from/record_list.ts";
import type { PlanNotes, Run } from "../../../convert/conversion.ts";
import { numberIn } from "../../../convert/samples/numbers_array.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import {
  jsonText,
  type StoredField,
  StoredSamples,
  type StoreField,
} from "../../../convert/samples/stored_fields.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { encodeExample, type Feature } from "../proto/encode_example.ts";

/** Converts samples of any format to TensorFlow examples, with one feature per field. */
export async function samplesToExamples(
  rows: SampleRows,
  path: string,
  notes: PlanNotes,
  options: WaitOptions,
): Promise<RecordSequence> {
  const samples = await StoredSamples.plan(
    rows,
    path,
    notes,
    storeField,
    options,
  );
  return {
    length: samples.length,
    read: (run) => examplesOf(samples, run),
  };
}

async function* examplesOf(
  samples: StoredSamples,
  run: Run,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { values } of samples.read(run)) {
    yield encodeExample(
      values.filter((value) => value !== undefined) as Feature[],
    );
  }
}

const UTF8 = new TextEncoder();

/** Stores fields as features; a sample without a value of a field lacks its feature. */
const storeField: StoreField = (field) => {
  const { name, isList, type } = field;
  const { kind, decoding, scalar, elements } = type;
  const feature = (
    kind: Feature["kind"],
    item: (value: unknown) => Uint8Array | number | bigint,
    more: Partial<StoredField> = {},
  ): StoredField => {
    const areItems = isList || elements !== undefined;
    const encode = async (value: unknown) => ({
      name,
      kind,
      values: areItems
        ? await Array.fromAsync(value as Iterable<unknown>, item)
        : [item(value)],
    });
    return {
      field,
      name,
      type: `${kind}_list`,
      isOptional: true,
      encode,
      ...more,
    };
  };
  const json = () =>
    feature("bytes", (value) => UTF8.encode(jsonText(value)), {
      change: "becomes JSON text",
      isJson: true,
    });
  switch (scalar ?? elements) {
    case "bool":
      return feature("int64", (value) => value ? 1n : 0n, {
        change: "becomes 0 or 1",
      });
    case "float16":
    case "float32":
      return feature("float", floatIn);
    case "float64":
      return feature("float", floatIn, {
        loss: "has 64-bit numbers, and features have 32 bits",
      });
    case undefined:
      break;
    default:
      return feature("int64", integerIn);
  }
  switch (kind) {
    case "text":
      return feature("bytes", (text) => UTF8.encode(text as string));
    case "array":
      return feature("bytes", (array) => writeNpy(array as NpyContent), {
        change: "becomes a .npy of NumPy",
      });
    case "number":
      return json();
    case "tree":
      return decoding === "pickle" ? feature("bytes", bytesIn) : json();
    default:
      return feature("bytes", bytesIn);
  }
};

const floatIn = (value: unknown) => Number(numberIn(value));
const bytesIn = (value: unknown) => value as Uint8Array;

function integerIn(value: unknown): bigint {
  const integer = BigInt(numberIn(value));
  if (BigInt.asIntN(64, integer) === integer) return integer;
  throw new RangeError(`${integer} does not fit in 64 bits with a sign`);
}
