import { ServeError } from "../serve_error.ts";
import type { Query } from "./query.ts";

/** Step of a path: the entry of a list or map at an index, or its key. */
interface PartStep {
  readonly index: number;
  readonly isKey: boolean;
}

export interface TreePart {
  /** From the root to a value. */
  readonly path: readonly PartStep[];
  /** Number of the value's entries to skip; for texts characters, for bytes bytes, for arrays numbers. */
  readonly from: number;
}

export const WHOLE_TREE: TreePart = { path: [], from: 0 };

/** Maximum number of steps: the nesting limit of MessagePack. */
const MOST_STEPS = 1024;

/** Returns the requested part; `undefined` if the whole is requested. Throws if `part` is malformed. */
export function partIn(query: Query): TreePart | undefined {
  const text = query.text("part");
  const from = query.number("skip");
  if (text === undefined && from === undefined) return undefined;
  const steps = text ? text.split(".", MOST_STEPS + 1) : [];
  const isPath = steps.length <= MOST_STEPS &&
    steps.every((step) => /^k?\d{1,15}$/.test(step));
  if (!isPath) {
    throw new ServeError(
      "bad-request",
      `part must be up to ${MOST_STEPS} numbers of entries, such as 0.12 (k12 for the key of an entry)`,
    );
  }
  return {
    path: steps.map((step) => ({
      index: Number(step.replace("k", "")),
      isKey: step.startsWith("k"),
    })),
    from: from ?? 0,
  };
}
