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
  type MemberFile,
  MemberSamples,
  MemberTable,
  type ParseJson,
} from "../../../tree/records/member_samples.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import { kindNamed, type LineKind } from "../kinds.ts";
import { loadParser } from "./survey_rows.ts";

/** Rows of one or several files, numbered from 0 across files. */
export class RowTable extends MemberTable<MemberFile> {
  readonly kind: LineKind;

  constructor(
    kind: string,
    files: readonly MemberFile[],
    lost: readonly LostShard[] = [],
  ) {
    super(files, lost);
    this.kind = kindNamed(kind);
  }

  get unit(): string {
    return this.kind.unit;
  }

  protected find(
    { facts: { fields } }: MemberFile,
    bytes: Uint8Array,
    parse: ParseJson | undefined,
  ): Members | RowFault {
    const { delimiter } = this.kind;
    if (delimiter === undefined) return decodeLine(bytes, parse);
    const names = (fields ?? []).map(([name]) => name);
    const [cells] = splitRows([bytes], delimiter, names.length);
    if (cells instanceof RowFault) return cells;
    return cells!.map((cell, i) => {
      const name = names[i]!;
      return [name, valueOfCell(cell, this.fields.typeOf(name, cell))];
    });
  }
}

/** What other threads make the samples of. */
interface Seed {
  readonly kind: string;
  readonly files: readonly MemberFile[];
}

/** Rows as samples. */
export class RowSamples extends MemberSamples<RowTable> {
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
