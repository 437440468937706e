import type { Tree } from "../../src/tree/tree.ts";
import { CheckedNodes, newCheckedNodes } from "./checked_nodes.ts";
import { newSampleClaims } from "./sample_claims.ts";

/** Memory that the threads of a mount share to check samples; it can be sent by `postMessage`. */
export interface SampleChecksMemory {
  /** Bitmap of verified samples. */
  readonly nodes: SharedArrayBuffer;
  /** Bitmap of large samples that did not match. */
  readonly wrong: SharedArrayBuffer;
  readonly claims: SharedArrayBuffer;
}

/** Allocates the memory for a tree's samples, or returns `undefined` if the tree has no checksums. */
export function newSampleChecks(tree: Tree): SampleChecksMemory | undefined {
  if (tree.sampleOf === undefined) return undefined;
  return {
    nodes: newCheckedNodes(tree.nodeCount),
    wrong: newCheckedNodes(tree.nodeCount),
    claims: newSampleClaims(),
  };
}

export function invalidateSampleChecks(
  { nodes, wrong }: SampleChecksMemory,
): void {
  new CheckedNodes(nodes).invalidate();
  new CheckedNodes(wrong).invalidate();
}
