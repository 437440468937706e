import type { SerializedError } from "../../base/serialized_error.ts";
import type { Placing } from "./unplaced_file.ts";

export interface FilesToPlace {
  readonly kind: "place";
  readonly how: Placing;
  /** Unique per file of this process. */
  readonly numbers: readonly number[];
  readonly directories: readonly number[];
  readonly names: readonly string[];
  /** Offset and length of each content in `memory`. */
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
  /** Modification times, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly memory: SharedArrayBuffer;
}

export type PlaceReport =
  | { readonly kind: "ready" }
  | { readonly kind: "placed"; readonly refused: readonly RefusedFile[] };

/** A file that could not be written, by its index. */
export interface RefusedFile {
  readonly index: number;
  readonly error: SerializedError;
}
