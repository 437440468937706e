import type { SerializedError } from "../../../base/serialized_error.ts";

/** What a thread that reads the files of a folder is told. */
export type ToPackThread =
  | {
    readonly kind: "start";
    /** The folder's descriptor, which stays open, and its path for messages. */
    readonly descriptor: number;
    readonly path: string;
    /** By which runs are claimed. */
    readonly counter: SharedArrayBuffer;
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
    /** The run that it is of, and whether it is the last of that. */
    readonly run: number;
    readonly isLast: boolean;
  }
  /** All runs are claimed, and there are so many. */
  | { readonly kind: "end"; readonly runs: number }
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "stopped" };
