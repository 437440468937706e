import { FormatError } from "../../base/errors.ts";
import { type ExactJson, parsePlainJson } from "../../codecs/json/value.ts";
import { MsgpackFloat } from "../../codecs/msgpack/value.ts";
import type { Members } from "../../codecs/rows/decode_row.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { CountedFields } from "../samples/field_census.ts";
import type {
  Field,
  PortableSamples,
  SampleValues,
} from "../samples/samples.ts";
import { ContentSamples } from "./content_samples.ts";
import { type RecordFile, RecordTable } from "./record_table.ts";

/** Records that are texts with fields, whose types follow from their values. */
export abstract class MemberTable<F extends RecordFile> extends RecordTable<F> {
  abstract readonly fields: CountedFields;

  /**
   * Decodes a record to its fields.
   *
   * @param parse Parses JSON; by default, so that `1.0` stays a float.
   * @throws {FormatError} With code `bad-value` if that is not possible.
   */
  abstract decode(
    record: number,
    bytes: Uint8Array,
    parse?: (text: string) => ExactJson,
  ): Members;
}

/** Texts with fields as samples: their bytes, decoded to the values of their fields. */
export abstract class MemberSamples<T extends MemberTable<RecordFile>>
  extends ContentSamples<T, SampleValues> {
  get fields(): readonly Field[] | undefined {
    return this.shards.fields.shared;
  }

  // deno-lint-ignore require-yield -- the fields are known
  *portable(): Steps<PortableSamples<Uint8Array<ArrayBuffer>>> {
    const { fields: { all, missing }, name: path } = this.shards;
    if (all === undefined) {
      const message =
        `Cannot give the samples of ${path} to another format: they have too many different fields. Convert their files`;
      throw new FormatError("unsupported", message, { path });
    }
    return {
      fields: all,
      missing,
      isNullable: true,
      read: (indices, options) => this.read(indices, options),
      decode: (index, bytes) =>
        valuesOf(
          this.shards.decode(index, bytes).map(([name, value]) => {
            const { scalar } = this.shards.fields.typeOf(name, value);
            const isNumber = scalar !== undefined &&
              value instanceof MsgpackFloat;
            return [name, isNumber ? value.value : value];
          }),
        ),
    };
  }

  decode(
    index: number,
    bytes: Uint8Array<ArrayBuffer>,
    fields?: readonly string[],
  ): SampleValues {
    const members = this.shards.decode(index, bytes, parsePlainJson);
    const isWanted = ([name]: Members[number]) => fields!.includes(name);
    return valuesOf(fields === undefined ? members : members.filter(isWanted));
  }
}

function valuesOf(
  members: readonly (readonly [name: string, value: unknown])[],
): SampleValues {
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, value] of members) values[name] = value;
  return values;
}
