import type { Steps } from "../io/concurrency/steps.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import { newExtent, type NodeId } from "../tree/tree.ts";
import { readExtent } from "../tree/vfs/read_files.ts";
import type { Served } from "./served.ts";

/** Reads bytes of a file from an offset on, without verifying them; none if the node is not a file. */
export function* headOf(
  { tree }: Served,
  node: NodeId,
  length: number,
  offset = 0,
): Steps<Uint8Array<ArrayBuffer>> {
  const extent = newExtent();
  if (!(yield* whenLoaded(() => tree.locate(node, extent)))) {
    return new Uint8Array();
  }
  const start = Math.min(offset, extent.length);
  const size = Math.min(length, extent.length - start);
  return yield* readExtent(tree, extent, start, size);
}
