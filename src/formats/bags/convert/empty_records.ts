import { openBag } from "../bag/open_bag.ts";
import { ENTRY, readEntry } from "../bag/index_entries.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";

/** Entries of the index that are read at once. */
const PAGE = 1 << 14;

/** How many records of a bag are empty. Only its index is read, in pages. */
export async function countEmpty(
  path: string,
  { signal }: WaitOptions,
): Promise<number> {
  const bag = await runAsync(openBag(path), signal);
  try {
    let empty = 0;
    let before = 0;
    for (let first = 0; first < bag.length; first += PAGE) {
      const count = Math.min(PAGE, bag.length - first);
      const at = bag.indexStart + first * ENTRY;
      const entries = await runAsync(
        readPart(bag.index, at, count * ENTRY),
        signal,
      );
      for (let i = 0; i < count; i++) {
        const end = readEntry(entries, i * ENTRY);
        if (end === before) empty++;
        before = end;
      }
    }
    return empty;
  } finally {
    bag.close();
  }
}
