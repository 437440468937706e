import type { SerializedError } from "../../../base/serialized_error.ts";

/** Messages to a thread that reads the files of a folder. */
export type ToPackThread =
  | {
    readonly kind: "start";
    /** Descriptor of the folder, which must stay open, and its path for messages. */
    readonly descriptor: number;
    readonly path: string;
    /** Counter for claiming runs. */
    readonly counter: SharedArrayBuffer;
  }
  | {
    readonly kind: "listed";
    /** Index of a chunk of the listing, its memory, and the bytes in use. */
    readonly chunk: number;
    readonly memory: SharedArrayBuffer;
    readonly used: number;
  }
  | { readonly kind: "listed-all" }
  | { readonly kind: "free"; readonly memory: SharedArrayBuffer }
  | { readonly kind: "stop" };

export type FromPackThread =
  | {
    readonly kind: "block";
    readonly memory: SharedArrayBuffer;
    readonly used: number;
    readonly count: number;
    /** Run that the block belongs to, and whether it is the run's last block. */
    readonly run: number;
    readonly isLast: boolean;
  }
  /** All runs are claimed; `runs` is their number. */
  | { readonly kind: "end"; readonly runs: number }
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "stopped" };
