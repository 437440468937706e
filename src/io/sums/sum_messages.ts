import type { FileIdentity } from "../storage/file_source.ts";
import type { ChecksumKind } from "./checksum.ts";

/** What a thread that makes checksums is told. */
export type ToSumThread =
  | {
    readonly kind: "span";
    /** The file, and what it was when it was opened. */
    readonly path: string;
    readonly identity: FileIdentity;
    readonly ranges: Float64Array;
    readonly checksumKind: ChecksumKind;
  }
  /** All is to be closed. */
  | { readonly kind: "stop" };

/** What it answers: to each span, in their order. */
export type FromSumThread =
  | {
    readonly kind: "sums";
    /** `undefined` where any range can't be read. */
    readonly sums: readonly number[] | undefined;
  }
  | { readonly kind: "stopped" };
