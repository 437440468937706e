import type { SerializedError } from "../../base/serialized_error.ts";
import type { Placing } from "./unplaced_file.ts";

/** Files for another thread to put in place. */
export interface FilesToPlace {
  readonly kind: "place";
  readonly how: Placing;
  /** Different for each file of this process. */
  readonly numbers: readonly number[];
  /** Descriptor of each file's directory. */
  readonly directories: readonly number[];
  readonly names: readonly string[];
  /** Where their contents start, and how long they are. */
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
  /** Their last modifications, in milliseconds since 1970. */
  readonly times: readonly number[];
  /** Memory that threads share. */
  readonly memory: SharedArrayBuffer;
}

/** Tells how far the other thread is. */
export type PlaceReport =
  | { readonly kind: "ready" }
  | { readonly kind: "placed"; readonly refused: readonly RefusedFile[] };

/** A file that is not in place, by its index. */
export interface RefusedFile {
  readonly index: number;
  readonly error: SerializedError;
}
