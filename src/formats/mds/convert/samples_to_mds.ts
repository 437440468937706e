import { pictureSize } from "../../../codecs/image/picture_size.ts";
import { jpegOrPng } from "../../../codecs/values/value_type.ts";
import {
  type Conversion,
  type ConvertOptions,
  type PlanNotes,
  type Run,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import {
  jsonText,
  type StoredField,
  StoredSamples,
  type StoreField,
} from "../../../convert/samples/stored_fields.ts";
import {
  isArrayType,
  numbersArray,
} from "../../../convert/samples/numbers_array.ts";
import { WriteError } from "../../../base/errors.ts";
import { untold } from "../../../io/write/writer_base.ts";
import { type MDSInput, MDSWriter } from "../write/mds_writer.ts";

/** Plans a conversion from samples of any format, whose values keep their types. */
export async function samplesToMds(
  rows: SampleRows,
  source: { readonly path: string; readonly what: string },
  target: string,
  notes: PlanNotes,
  options: ConvertOptions,
): Promise<Conversion> {
  const { path, what } = source;
  const samples = await StoredSamples.plan(
    rows,
    path,
    notes,
    storeField,
    options,
  );
  return {
    from: what,
    to: "MDS, not compressed",
    notes,
    unit: "samples",
    total: samples.length,
    write: (run) => writeSamples(samples, target, run, options),
  };
}

async function writeSamples(
  samples: StoredSamples,
  target: string,
  run: Run,
  { shardSize, shardLength }: ConvertOptions,
): Promise<number> {
  const { signal } = run;
  const { fields } = samples;
  const columns = Object.fromEntries(
    fields.map(({ name, type }) => [name, type]),
  );
  await using writer = untold(
    await MDSWriter.open(target, {
      columns,
      sizeLimit: shardSize,
      shardLength,
      signal,
    }),
  );
  for await (const { name, values } of samples.read(run)) {
    const sample = Object.fromEntries(
      fields.map(({ name }, i) => [name, values[i] as MDSInput]),
    );
    try {
      await writer.write(sample, { signal });
      run.tell(writer.length);
    } catch (error) {
      const isUnfit = error instanceof WriteError && error.code === "bad-value";
      if (!isUnfit) throw error;
      run.leaveOut(`${name}: ${error.message}`, error);
    }
  }
  await writer.close({ signal });
  return writer.length;
}

/** Chooses the MDS column for a field. */
const storeField: StoreField = (field, { unfilled }) => {
  const { name, isList, type } = field;
  const { kind, decoding, scalar, elements } = type;
  const stored = (
    type: string,
    encode: StoredField["encode"] = same,
    more: Partial<StoredField> = {},
  ): StoredField => ({ field, name, type, encode, ...more });
  const json = () =>
    stored("json", jsonBytes, {
      isJson: true,
      empty: { stored: jsonBytes(null) },
    });
  if (isList) {
    if (type.suffix === ".jpg" || type.suffix === ".jpeg") {
      return stored("list[jpeg]", (list) => eachOf(list, picture));
    }
    if (type.suffix === ".png") {
      return stored("list[png]", (list) => eachOf(list, picture));
    }
    const isPlain = kind === "number" || kind === "text" ||
      decoding === "json";
    return isPlain
      ? stored("json", async (list) => jsonBytes(await eachOf(list, same)))
      : undefined;
  }
  if (scalar === "bool") return json();
  if (scalar !== undefined) {
    // `str_int` and `int` are read as Python's `int`, the others as NumPy scalars.
    if (decoding === "integer") return stored("str_int");
    const empty = scalar.startsWith("float")
      ? { stored: NaN, isLossOf: "NaN" }
      : undefined;
    return stored(scalar === "int64" ? "int" : scalar, same, { empty });
  }
  if (elements !== undefined) {
    return unfilled === 0 && isArrayType(elements)
      ? stored(`ndarray:${elements}`, (list) => numbersArray(list, elements))
      : json();
  }
  switch (kind) {
    case "text":
      return stored("str", same, {
        empty: { stored: "", isLossOf: "an empty text" },
      });
    case "array":
      return stored("ndarray");
    case "image": {
      const kind = jpegOrPng(type);
      return kind === undefined ? stored("bytes") : stored(kind, picture);
    }
    case "number":
      return json();
    case "tree":
      if (decoding === "pickle") return stored("pkl");
      return json();
    default:
      return stored("bytes", same, {
        empty: { stored: new Uint8Array(0), isLossOf: "no bytes" },
      });
  }
};

const same = (value: unknown) => value;

function jsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(jsonText(value));
}

/** Streaming detects the picture format from the content, whichever encoding is declared. */
function picture(value: unknown): unknown {
  if (pictureSize(value as Uint8Array) !== undefined) return value;
  throw new UnfitError("it is not a picture");
}

function eachOf(
  list: unknown,
  make: (item: unknown) => unknown,
): Promise<unknown[]> {
  return Array.fromAsync(list as Iterable<unknown>, make);
}
