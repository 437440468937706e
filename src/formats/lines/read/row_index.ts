import { RowFault } from "../../../codecs/rows/decode_row.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Cut } from "../../../tree/records/cut.ts";
import {
  fitFile,
  GrowingSpans,
  type RecordSpans,
} from "../../../tree/records/record_spans.ts";
import {
  areCounts,
  type CountedFile,
  FieldCensus,
} from "../../../tree/samples/field_census.ts";
import type { LineKind } from "../kinds.ts";
import { notOfKind, surveyRows } from "./survey_rows.ts";

/** What is known of a file's rows. Plain data, for the cache. */
interface RowFacts extends CountedFile {
  readonly notes: readonly string[];
}

/** Tables of a file. */
export interface RowIndex {
  readonly spans: RecordSpans;
  readonly facts: RowFacts;
  /** The last row, if it is cut. */
  readonly cut?: Cut | undefined;
}

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
      const spans = columns as unknown as RecordSpans;
      return fitFile(spans, source.size) && areFacts(facts)
        ? { spans, facts }
        : undefined;
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
  let sound = 0;
  let fault: string | undefined;
  let cut: Cut | undefined;
  const survey = yield* surveyRows(source, kind, (row) => {
    const { found, line } = row;
    if (found instanceof RowFault) fault ??= `line ${line}: ${found.why}`;
    if ((cut = row.cut) !== undefined) return;
    spans.push(row.start, row.end);
    if (found instanceof RowFault) return;
    sound++;
    census.add(found);
  });
  if (kind.delimiter === undefined && sound === 0 && fault !== undefined) {
    throw notOfKind(source.name, kind, fault);
  }
  census.nameColumns(survey.names, sound);
  const notes = [...survey.notes];
  const { length } = spans;
  if (sound < length) {
    const units = `${kind.unit}s`;
    notes.push(
      `${length - sound} of ${length} ${units} cannot be decoded: ${fault}`,
    );
  }
  const facts = { fields: census.counts, sound, notes };
  return { spans: spans.finish(), facts, cut };
}

function areFacts(facts: unknown): facts is RowFacts {
  const { fields, sound, notes } = (facts ?? {}) as RowFacts;
  return areCounts(fields) && Number.isSafeInteger(sound) &&
    Array.isArray(notes) && notes.every((note) => typeof note === "string");
}
