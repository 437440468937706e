import type { Tree } from "../../src/tree/tree.ts";
import { CheckedNodes, newCheckedNodes } from "./checked_nodes.ts";
import { newSampleClaims } from "./sample_claims.ts";

/** Memory that the threads of a mount share to check samples; it survives `postMessage`. */
export interface SampleChecksMemory {
  /** Those that are right. */
  readonly nodes: SharedArrayBuffer;
  /** Large ones that are wrong. */
  readonly wrong: SharedArrayBuffer;
  readonly claims: SharedArrayBuffer;
}

/** Makes the memory for a tree's samples, or none where the tree has no checksums. */
export function newSampleChecks(tree: Tree): SampleChecksMemory | undefined {
  if (tree.sampleOf === undefined) return undefined;
  return {
    nodes: newCheckedNodes(tree.nodeCount),
    wrong: newCheckedNodes(tree.nodeCount),
    claims: newSampleClaims(),
  };
}

/** Invalidates what is known of all samples. */
export function invalidateSampleChecks(
  { nodes, wrong }: SampleChecksMemory,
): void {
  new CheckedNodes(nodes).invalidate();
  new CheckedNodes(wrong).invalidate();
}
