import { FormatError } from "../../base/errors.ts";
import { type ExactJson, parsePlainJson } from "../../codecs/json/value.ts";
import { MsgpackFloat } from "../../codecs/msgpack/value.ts";
import { type Members, RowFault } from "../../codecs/rows/decode_row.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { CountedFields, type CountedFile } from "../samples/field_census.ts";
import type { LostShard } from "../samples/open_shards.ts";
import type {
  Field,
  PortableSamples,
  SampleValues,
} from "../samples/samples.ts";
import { type Extent, placeRange } from "../tree.ts";
import { ContentSamples } from "./content_samples.ts";
import type { RecordSpans } from "./record_spans.ts";
import { type RecordFile, RecordTable } from "./record_table.ts";

/** A file of texts with fields, for other threads. */
export interface MemberFile extends RecordFile {
  readonly spans: RecordSpans;
  readonly facts: CountedFile;
}

/** Records that are texts with fields, whose types follow from their values. */
export abstract class MemberTable<F extends MemberFile> extends RecordTable<F> {
  /** Word for a record. */
  abstract readonly unit: string;
  readonly fields: CountedFields;

  constructor(files: readonly F[], lost: readonly LostShard[]) {
    super(files, ({ spans }) => spans.starts.length, lost);
    this.fields = new CountedFields(files.map(({ facts }) => facts));
  }

  locateIn(file: number, number: number, into: Extent): void {
    const { starts, ends } = this.shards[file]!.spans;
    placeRange(file, starts[number]!, ends[number]! - starts[number]!, into);
  }

  /**
   * Decodes a record to its fields.
   *
   * @param parse Parses JSON; by default, so that `1.0` stays a float.
   * @throws {FormatError} With code `bad-value` if that is not possible.
   */
  decode(record: number, bytes: Uint8Array, parse?: ParseJson): Members {
    const file = this.of(record);
    const found = this.find(file, bytes, parse);
    if (!(found instanceof RowFault)) return found;
    const { path, spans: { starts } } = file;
    const number = this.numberOf(record);
    const offset = starts[number]!;
    throw new FormatError(
      "bad-value",
      `Cannot decode ${this.unit} ${number} of ${path}, which starts at byte ${offset}: ${found.why}`,
      { path, sample: record, offset },
    );
  }

  /** Decodes a record of a file, or says why that is not possible. */
  protected abstract find(
    file: F,
    bytes: Uint8Array,
    parse: ParseJson | undefined,
  ): Members | RowFault;
}

/** Parses JSON. */
export type ParseJson = (text: string) => ExactJson;

/** Texts with fields as samples: their bytes, decoded to the values of their fields. */
export abstract class MemberSamples<T extends MemberTable<MemberFile>>
  extends ContentSamples<T, SampleValues> {
  get unit(): string {
    return this.shards.unit;
  }

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
