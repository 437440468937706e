import {
  areAllBlocks,
  blockOf,
  type BlockStore,
  CACHE_BLOCK,
} from "./cache/block_store.ts";
import { type NamedOption, optionText } from "../../base/named_option.ts";
import type { Client, RequestLimits } from "./client.ts";
import { RemoteError } from "./remote_error.ts";
import { type ObjectState, requireSameState } from "./remote_object.ts";
import { readBody } from "./read_body.ts";
import type { Target } from "./target.ts";
import { Transient } from "./retry/transient.ts";

const SIZE: NamedOption = { name: "cache.size" };

const PIECE = 1 << 20;

/**
 * Downloads an object from a server that does not support ranges. Throws a FormatError if the object has
 * changed (`changed`), and a {@linkcode RemoteError} if it does not fit into the store (`no-ranges`).
 */
export async function fetchWhole(
  client: Client,
  target: Target,
  state: ObjectState,
  store: BlockStore,
  patience: RequestLimits,
): Promise<void> {
  const { size } = state;
  await client.ask(target, {
    headers: () => new Headers(),
    async take(response, watch) {
      requireSameState(client, target, state, response.headers);
      const memory = new Uint8Array(PIECE);
      let used = 0;
      let kept = 0;
      const keep = () => {
        store.keep(kept / CACHE_BLOCK, memory.subarray(0, used));
        kept += used;
        used = 0;
      };
      const take = (piece: Uint8Array) => {
        watch.add(piece.length);
        for (let done = 0; done < piece.length;) {
          const part = piece.subarray(done, done + PIECE - used);
          memory.set(part, used);
          used += part.length;
          done += part.length;
          if (used === PIECE) keep();
        }
        return false;
      };
      const came = await readBody(response.body, size, { take });
      if (used > 0) keep();
      if (came !== size) {
        throw new Transient(`it sent ${came} bytes of ${size}`);
      }
    },
  }, patience);
  if (!hasAll(store, size)) throw doesNotFit(target.name, size);
}

export function hasAll(store: BlockStore, size: number): boolean {
  store.look(0, blockOf(size - 1));
  return areAllBlocks(0, size, (block) => store.has(block));
}

export function missingBytes(store: BlockStore, size: number): number {
  let missing = 0;
  for (let start = 0; start < size; start += CACHE_BLOCK) {
    if (!store.has(blockOf(start))) {
      missing += Math.min(CACHE_BLOCK, size - start);
    }
  }
  return missing;
}

function doesNotFit(path: string, size: number): RemoteError {
  return new RemoteError(
    "no-ranges",
    `Cannot read ${path}: its server does not support range requests, and the whole file, ${size} bytes, does not fit ` +
      `into the cache. Make the cache larger with ${optionText(SIZE)}`,
    { path, namedOptions: [SIZE] },
  );
}
