import type { ArrowField } from "./schema.ts";

/** Number of values of an array, and of nulls among them. */
export type ArrayNode = readonly [length: number, nulls: number];

/** Arrays of a batch, in depth-first order of its fields. */
export interface BatchArrays {
  readonly nodes: readonly ArrayNode[];
  /** Per array of views: number of its buffers of data. */
  readonly views: readonly (readonly [number])[];
}

/** Positions in a batch of the next array, buffer, and array of views. */
export interface ArrayCursor {
  readonly node: number;
  readonly buffer: number;
  readonly view: number;
}

/** Position of the first array. */
export const START: ArrayCursor = { node: 0, buffer: 0, view: 0 };

/** Returns the position after a field's arrays, which is that of a batch's end if it fits the fields. */
export function cursorAfter(
  field: ArrowField,
  { views }: BatchArrays,
  at: ArrayCursor,
): ArrayCursor {
  const { stored, dictionary, parts } = field;
  let { node, buffer, view } = at;
  node++;
  if (dictionary !== undefined) return { node, buffer: buffer + 2, view };
  switch (stored.is) {
    case "null":
      return { node, buffer, view };
    case "views": {
      const [data = -1] = views[view] ?? [];
      const count = data >= 0 ? data : NaN;
      return { node, buffer: buffer + 2 + count, view: view + 1 };
    }
    case "variable":
      return { node, buffer: buffer + 3, view };
  }
  const isPlain = stored.is === "fixed-list" || stored.is === "struct";
  buffer += isPlain ? 1 : 2;
  return parts.reduce(
    (after, part) => cursorAfter(part, { nodes: [], views }, after),
    { node, buffer, view },
  );
}
