import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import type { ResponseRoom } from "../response_room.ts";
import { Turns } from "../api/turns.ts";
import { entriesFrom, type ListedEntry } from "../entries.ts";
import type { Served } from "../served.ts";

export interface EntryText {
  /** Text before and after the entries. */
  readonly start: string;
  readonly end: string;
  /** Entries described at a time. */
  readonly page: number;
  /** Describes entries; `isFirst` for the first page. */
  describe(entries: readonly ListedEntry[], isFirst: boolean): Steps<string>;
}

/** Streams a directory as text, page by page, in bounded memory. */
export function entryPages(
  { tree, streams }: Served,
  directory: NodeId,
  { start, end, page, describe }: EntryText,
  room: ResponseRoom | undefined,
): ReadableStream<Uint8Array> {
  // A separate function, so that no page stays in memory while it is sent.
  const pageFrom = async (cursor: number, signal: AbortSignal) => {
    const steps = entriesFrom(tree, directory, cursor, page);
    const { entries, next } = await runAsync(steps, signal);
    const text = await runAsync(describe(entries, cursor === 0), signal);
    return { text, next };
  };
  return streams.ofText(async function* (signal) {
    yield start;
    const turns = new Turns();
    for (let cursor: number | undefined = 0; cursor !== undefined;) {
      const page: { text: string; next: number | undefined } = await pageFrom(
        cursor,
        signal,
      );
      cursor = page.next;
      yield page.text;
      if (turns.areDue) await turns.give();
    }
    yield end;
  }, { room });
}
