import {
  type ServedCounts,
  sumCounts,
} from "../../../fuse/session/request_counts.ts";
import { type RecordedMount, statsOf } from "./mount_records.ts";
import { isRunning } from "./processes.ts";

/**
 * What all servers of a mount have counted, as of now: its processes have open what they count in, and a
 * supervisor that gives up keeps it in a file.
 *
 * @returns `undefined` where nobody has kept it.
 */
export function readCounts(
  { path, record }: RecordedMount,
): ServedCounts | undefined {
  const { supervised } = record;
  if (!supervised) return undefined; // one in the foreground
  const places = [record, supervised.supervisor].filter(isRunning)
    .map(({ pid }) => `/proc/${pid}/fd/${supervised.counts}`);
  for (const place of [...places, statsOf(path)]) {
    try {
      return sumCounts(Deno.readFileSync(place));
    } catch {
      // It has ended since.
    }
  }
  return undefined;
}
