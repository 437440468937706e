import type { SerializedError } from "../../../serialized_error.ts";

/** What a thread that reads the files of a folder is told. */
export type ToPackThread =
  | {
    readonly kind: "start";
    /** The folder's descriptor, which stays open, and its path for messages. */
    readonly descriptor: number;
    readonly path: string;
  }
  | {
    readonly kind: "listed";
    /** Number of a piece of the listing, where it lies, and how much of it there is. */
    readonly chunk: number;
    readonly memory: SharedArrayBuffer;
    readonly used: number;
  }
  /** Nothing more is listed. */
  | { readonly kind: "listed-all" }
  /** A block may be read into again. */
  | { readonly kind: "free"; readonly memory: SharedArrayBuffer }
  /** All is to be closed. */
  | { readonly kind: "stop" };

/** What it answers. */
export type FromPackThread =
  | {
    readonly kind: "block";
    readonly memory: SharedArrayBuffer;
    readonly used: number;
    readonly count: number;
  }
  /** All files have been read. */
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "stopped" };
