import { FormatError } from "../../../base/errors.ts";
import type { ExactJson } from "../../../codecs/json/value.ts";
import {
  decodeLine,
  type Members,
  RowFault,
  splitRows,
} from "../../../codecs/rows/decode_row.ts";
import { valueOfCell } from "../../../codecs/values/value_kinds.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  MemberSamples,
  MemberTable,
} from "../../../tree/records/member_samples.ts";
import type { RecordFile } from "../../../tree/records/record_table.ts";
import { CountedFields } from "../../../tree/samples/field_census.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import { type Extent, placeRange } from "../../../tree/tree.ts";
import { kindNamed, type LineKind } from "../kinds.ts";
import type { RowIndex } from "./row_index.ts";
import { loadParser } from "./survey_rows.ts";

/** A file for other threads, with its tables in shared memory. */
export interface RowFile extends RowIndex, RecordFile {}

/** Rows of one or several files, numbered from 0 across files. */
export class RowTable extends MemberTable<RowFile> {
  readonly kind: LineKind;
  readonly fields: CountedFields;

  constructor(
    kind: string,
    files: readonly RowFile[],
    lost: readonly LostShard[] = [],
  ) {
    super(files, ({ spans }) => spans.starts.length, lost);
    this.kind = kindNamed(kind);
    this.fields = new CountedFields(files.map(({ facts }) => facts));
  }

  locateIn(file: number, number: number, into: Extent): void {
    const { starts, ends } = this.shards[file]!.spans;
    placeRange(file, starts[number]!, ends[number]! - starts[number]!, into);
  }

  decode(
    row: number,
    bytes: Uint8Array,
    parse?: (text: string) => ExactJson,
  ): Members {
    const { path, facts, spans } = this.of(row);
    const { delimiter, unit } = this.kind;
    const names = facts.fields!;
    const found = delimiter === undefined
      ? decodeLine(bytes, parse)
      : splitRows([bytes], delimiter, names.length)[0]!;
    if (found instanceof RowFault) {
      const number = this.numberOf(row);
      const offset = spans.starts[number]!;
      const message = `Cannot decode ${unit} ${number} of ${path}, which ` +
        `starts at byte ${offset}: ${found.why}`;
      const facts = { path, sample: row, offset };
      throw new FormatError("bad-value", message, facts);
    }
    return found.map((one, i) => {
      if (typeof one !== "string") return one;
      const [name] = names[i]!;
      return [name, valueOfCell(one, this.fields.typeOf(name, one))];
    });
  }
}

/** What other threads make the samples of. */
interface Seed {
  readonly kind: string;
  readonly files: readonly RowFile[];
}

/** Rows as samples. */
export class RowSamples extends MemberSamples<RowTable> {
  get unit(): string {
    return this.shards.kind.unit;
  }

  share(): SamplesHandle {
    const { kind, shards } = this.shards;
    const data: Seed = { kind: kind.name, files: shards };
    return { module: import.meta.url, data };
  }
}

/** Opens files that another thread has opened, using its tables. */
export function* reopenSamples(
  { kind, files }: Seed,
  storage: Storage,
): Steps<RowSamples> {
  const table = new RowTable(kind, files);
  yield* loadParser(table.kind, table.name);
  const sources = yield* reopenSources(storage, files);
  return new RowSamples(sources, table, storage, false);
}
