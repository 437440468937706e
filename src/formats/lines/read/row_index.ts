import { RowFault } from "../../../codecs/rows/decode_row.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { MemberFile } from "../../../tree/records/member_samples.ts";
import { GrowingSpans, spansOf } from "../../../tree/records/record_spans.ts";
import {
  FieldCensus,
  isCountedFile,
} from "../../../tree/samples/field_census.ts";
import type { LineKind } from "../kinds.ts";
import { notOfKind, surveyRows } from "./survey_rows.ts";

/** Tables of a file. */
type RowIndex = Pick<MemberFile, "cut" | "facts" | "spans">;

/** Returns the index of a file, from the index cache or by reading it once. */
export function openIndex(
  source: ByteSource,
  kind: LineKind,
  options: IndexCacheOptions,
): Steps<RowIndex> {
  return cachedIndex<RowIndex>(source, options, {
    kind: `${kind.name} 1`,
    entrySize: 2, // a character and a newline
    isCacheable: true,
    take({ columns, facts }) {
      const spans = spansOf(columns, source.size);
      return spans && isCountedFile(facts) ? { spans, facts } : undefined;
    },
    make: () => makeIndex(source, kind),
    count: ({ spans }) => spans.starts.length,
    // A damaged file does not stay for long.
    tables: ({ spans, facts, cut }) =>
      cut === undefined ? { columns: { ...spans }, facts } : undefined,
  });
}

function* makeIndex(source: ByteSource, kind: LineKind): Steps<RowIndex> {
  const spans = new GrowingSpans(source.size);
  const census = new FieldCensus();
  let hasSound = kind.delimiter !== undefined;
  let fault: string | undefined;
  let cut: MemberFile["cut"];
  const columns = yield* surveyRows(source, kind, (row) => {
    const { found, line } = row;
    const isFault = found instanceof RowFault;
    if (isFault) fault ??= `line ${line}: ${found.why}`;
    if ((cut = row.cut) !== undefined) return;
    spans.push(row.start, row.end);
    if (isFault) return;
    hasSound = true;
    census.add(found);
  });
  if (!hasSound && fault !== undefined) {
    throw notOfKind(source.name, kind, fault);
  }
  const facts = census.finish(columns, spans.length, fault);
  return { spans: spans.finish(), facts, cut };
}
