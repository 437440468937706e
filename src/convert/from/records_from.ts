import { type ConvertOptions, PlanNotes } from "../conversion.ts";
import { contentsOf, type RecordList } from "./record_list.ts";
import type { ConversionSource } from "./source.ts";

/** Contents without names, and what is lost by that. */
export interface Records {
  readonly list: RecordList;
  /** Whether any one can be read, and not only the next. */
  readonly isByIndex: boolean;
  readonly notes: PlanNotes;
}

/** What a source holds, as contents without names. */
export async function recordsFrom(
  source: ConversionSource,
  options: ConvertOptions,
): Promise<Records> {
  const notes = new PlanNotes();
  notes.kept.push("contents and their order");
  const own = source.records(notes, options);
  if (own !== undefined) return { list: own, isByIndex: true, notes };
  source.noteContents(notes);
  const list = await contentsOf(await source.files(), options);
  notes.lost.push("the names of files and directories");
  return { list, isByIndex: false, notes };
}
