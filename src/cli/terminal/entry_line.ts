import { FormatError } from "../../errors.ts";
import type { VirtualFs, VirtualStat, WalkEntry } from "../../vfs/mod.ts";

/** What a listing says of an entry. */
export interface ListedEntry {
  readonly path: string;
  readonly type: "file" | "directory";
  /** In bytes; `null` where the container is damaged at that place. */
  readonly size: number | null;
}

/** Describes an entry; damage is a size of `null`, so that one bad sample does not hide the rest. */
export async function describeEntry(
  fs: VirtualFs,
  entry: WalkEntry,
): Promise<ListedEntry> {
  const { path, isDirectory } = entry;
  if (isDirectory) return { path, type: "directory", size: 0 };
  let stat: VirtualStat;
  try {
    stat = await fs.stat(entry);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { path, type: "file", size: null };
  }
  return { path, type: "file", size: stat.size };
}

/** What stands before a name in `ls -l`: permissions, size, when the container was modified. */
export function longStart(
  { type, size }: ListedEntry,
  modified: string,
): string {
  const mode = type === "directory" ? "drwxr-xr-x" : "-rw-r--r--";
  const shown = size === null ? "?" : String(size);
  return `${mode} ${shown.padStart(12)} ${modified} `;
}

/** A time as `YYYY-MM-DD HH:MM`, in the machine's time zone. */
export function formatTime(time: Date): string {
  return time.toLocaleString("sv", { dateStyle: "short", timeStyle: "short" });
}
