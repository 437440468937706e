import { ServeError } from "../serve_error.ts";
import type { Query } from "./query.ts";

/** An entry of a list or map, counted from 0, or its key. */
interface PartStep {
  readonly index: number;
  readonly isKey: boolean;
}

/** A part of a tree of values. */
export interface TreePart {
  /** Leads from the root to a value. */
  readonly path: readonly PartStep[];
  /** Entries of that value that are skipped; of a text its characters, of bytes its bytes, of an array its numbers. */
  readonly from: number;
}

/** All of a tree. */
export const WHOLE_TREE: TreePart = { path: [], from: 0 };

/** Steps of a path: as deep as MessagePack nests. */
const MOST_STEPS = 1024;

/**
 * The part that a request is for; `undefined` if it is for no part.
 *
 * @throws {ServeError} If `part` is no path.
 */
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
