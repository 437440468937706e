import type { FileIdentity } from "../storage/file_source.ts";
import type { ChecksumKind } from "./checksum.ts";

/** Messages to a checksum thread. */
export type ToSumThread =
  | {
    readonly kind: "span";
    /** The file, and its identity when it was opened. */
    readonly path: string;
    readonly identity: FileIdentity;
    readonly ranges: Float64Array;
    readonly checksumKind: ChecksumKind;
  }
  | { readonly kind: "stop" };

/** Answers of the thread, one per span and in order. */
export type FromSumThread =
  | {
    readonly kind: "sums";
    /** `undefined` if any range cannot be read. */
    readonly sums: readonly number[] | undefined;
  }
  | { readonly kind: "stopped" };
