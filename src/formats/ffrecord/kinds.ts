/** Kinds of FFRecord containers, and how the `format` option asks for one. */
import type { ContainerOptions } from "../../tree/format.ts";

/** Variant of the format: a packed folder, or an error. */
export const PACKED = "ffrecord-packed";
/** Variant of the format: numbered samples, even of a packed folder. */
export const SAMPLES = "ffrecord-samples";

/** What packed folders are, among the kinds of containers. */
export const PACKED_FOLDER = "packed folder";

/** Whether a container of that kind shows as numbered samples. */
export function areSamples(kind: string): boolean {
  return kind.startsWith("samples");
}

/** As what files are opened: as what they are, as packed folders or not at all, or as samples. */
export type OpenAs = "detect" | "packed" | "samples";

/** As what files are opened that were given this name of the format, or of a variant of it. */
export function openAs({ format }: ContainerOptions): OpenAs {
  if (format === PACKED) return "packed";
  return format === SAMPLES ? "samples" : "detect";
}
