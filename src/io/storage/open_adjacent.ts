import { RecordfsError } from "../../base/errors.ts";
import { RemoteStorage } from "../remote/remote_storage.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";
import { baseOf } from "./layered_storage.ts";
import { openFile } from "./open_file.ts";
import type { Storage } from "./storage.ts";

/** Files in a directory of a server that were missing, one after the other, before others are no longer asked for. */
const MOST_MISSES = 4;

/** Per storage: by directory and suffix, how many files were missing; -1 if one was there. */
const misses = new WeakMap<Storage, Map<string, number>>();

/**
 * Opens a file that may lie next to a container, such as an index; `undefined` if it does not, or cannot be opened: the
 * container itself has all the information. A server that does not list its directories is asked for each such file of a
 * directory only until some were missing, because there may be thousands of shards.
 */
export function* openAdjacent(
  storage: Storage,
  path: string,
): Steps<ByteSource | undefined> {
  const base = baseOf(storage);
  const isRemote = base instanceof RemoteStorage;
  const counts = misses.get(base) ?? new Map<string, number>();
  misses.set(base, counts);
  const [, directory, suffix] = /^(.*\/|)[^/]*?(\.[^./]*)?$/s.exec(path)!;
  const kind = `${suffix}\n${directory}`;
  const count = counts.get(kind) ?? 0;
  if (isRemote && count >= MOST_MISSES) return undefined;
  try {
    const file = yield* openFile(storage, path, { isOptional: true });
    counts.set(kind, -1);
    return file;
  } catch (error) {
    if (!(error instanceof RecordfsError) || error.code === "must-wait") {
      throw error;
    }
    const now = counts.get(kind) ?? 0; // others were opened meanwhile
    if (now >= 0) counts.set(kind, now + 1);
    return undefined;
  }
}
