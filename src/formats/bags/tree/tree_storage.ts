import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { FileSource } from "../../../io/storage/file_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { DamagedBag } from "../bag/damaged_bag.ts";
import type { Shard } from "../dataset/open_shard.ts";

/** Returns the id of an open file in its storage; for a local file its inode, which is known already. */
export function* idOf(storage: Storage, file: ByteSource): Steps<number> {
  if (file instanceof FileSource) return file.identity.ino;
  return (yield* storage.stat(file.name))?.id ?? 0;
}

/**
 * Returns the file ids of the bags of a dataset's keys, 0 for a missing bag: of its open bags, and otherwise of the
 * files that exist now. They reveal a bag that was replaced, even by an older file.
 */
export function* idsOf({ storage, path, keys, bags }: Shard): Steps<number[]> {
  const ids: number[] = [];
  for (const [k, { key }] of keys.entries()) {
    const bag = bags[k];
    const isOpen = bag !== undefined && !(bag instanceof DamagedBag);
    if (isOpen) ids.push(yield* idOf(storage, bag.source));
    else ids.push(yield* idAt(storage, `${path}/${key}.bag`));
  }
  return ids;
}

function* idAt(storage: Storage, path: string): Steps<number> {
  try {
    return (yield* storage.stat(path))?.id ?? 0;
  } catch (error) {
    if ((error as { code?: unknown }).code === "must-wait") throw error;
    return 0;
  }
}

/** Returns a 32-bit hash of ids (FNV-1a, over words instead of bytes). */
export function hashIds(ids: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const id of ids) {
    for (const word of [id, id / 2 ** 32]) {
      hash = Math.imul(hash ^ word, 0x01000193);
    }
  }
  return hash >>> 0;
}
