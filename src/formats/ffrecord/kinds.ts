/** Kinds of FFRecord containers, and the values of the `format` option for them. */
import type { ContainerOptions } from "../../tree/format.ts";
import { FORMAT, type NamedOption } from "../../base/named_option.ts";

/** Format variant: a packed folder, or an error. */
export const PACKED = "ffrecord-packed";
/** Format variant: numbered samples, even of a packed folder. */
export const SAMPLES = "ffrecord-samples";

/** Option that opens a packed folder as samples. */
export const AS_SAMPLES: NamedOption = { ...FORMAT, value: SAMPLES };

export const PACKED_FOLDER = "packed folder";

export function areSamples(kind: string): boolean {
  return kind.startsWith("samples");
}

/** How files are opened: as detected, as packed folders or not at all, or as samples. */
export type OpenAs = "detect" | "packed" | "samples";

export function openAs({ format }: ContainerOptions): OpenAs {
  if (format === PACKED) return "packed";
  return format === SAMPLES ? "samples" : "detect";
}
