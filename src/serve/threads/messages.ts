/**
 * Messages between the main thread of a server and its other threads.
 *
 * @module
 */
import type { SerializedError } from "../../base/serialized_error.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { SessionSecrets } from "../access/session.ts";
import type { Listening } from "../listen.ts";
import type { Access, HandlerOptions, ServedSource } from "../options.ts";

/** Container opened by a thread for itself. */
export interface OpenedToServe {
  readonly fs: VirtualFs;
  /** As {@linkcode HandlerOptions.sources}. */
  readonly sources: readonly ServedSource[];
}

export interface ThreadOpener {
  /** URL of a module that exports `openInThread(data): Promise<OpenedToServe>`. */
  readonly module: string;
  /** Argument; must be structured-cloneable. */
  readonly data: unknown;
}

export type PlainOptions = Omit<HandlerOptions, "sources" | "onError">;

export interface ResponseTask {
  readonly kind: "answer";
  readonly opener: ThreadOpener;
  readonly options: PlainOptions;
  readonly session: SessionSecrets;
  readonly listening: Listening;
  readonly counts: SharedArrayBuffer;
  readonly isLogged: boolean;
}

/** Message to a serving thread. After `end`, it has a grace period for responses in progress. */
export type HandlerTask = ResponseTask | { readonly kind: "end" };

export type HandlerReport =
  | { readonly kind: "accesses"; readonly accesses: readonly Access[] }
  | { readonly kind: "error"; readonly error: SerializedError }
  /** The thread failed to start, and ends. */
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "ended" };
