/**
 * What the main thread of a server and the others that answer tell each other.
 *
 * @module
 */
import type { SerializedError } from "../../base/serialized_error.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { SessionSecrets } from "../access/session.ts";
import type { ServedSource } from "../api/sources.ts";
import type { Listening } from "../listen.ts";
import type { Access, HandlerOptions } from "../options.ts";

/** What is served, as each thread opens it for itself. */
export interface OpenedToServe {
  readonly fs: VirtualFs;
  /** As {@linkcode HandlerOptions.sources}. */
  readonly sources: readonly ServedSource[];
}

/** How a thread opens what it serves. */
export interface ThreadOpener {
  /** URL of a module that exports `openInThread(data): Promise<OpenedToServe>`. */
  readonly module: string;
  /** What survives `postMessage`. */
  readonly data: unknown;
}

/** Options of a handler that are data. */
export type PlainOptions = Omit<HandlerOptions, "sources" | "onError">;

/** First task of an answering thread: what it is to answer with, and where. */
export interface AnswerTask {
  readonly kind: "answer";
  readonly opener: ThreadOpener;
  readonly options: PlainOptions;
  readonly session: SessionSecrets;
  readonly listening: Listening;
  /** Memory of the server's `SharedCounts`. */
  readonly counts: SharedArrayBuffer;
  /** Whether somebody wants to hear of each request. */
  readonly isLogged: boolean;
}

/** What an answering thread hears. At the end, what is under way may go on for a moment. */
export type AnsweringTask = AnswerTask | { readonly kind: "end" };

/** What an answering thread says. */
export type AnsweringReport =
  | { readonly kind: "accesses"; readonly accesses: readonly Access[] }
  | { readonly kind: "error"; readonly error: SerializedError }
  /** It can't begin, and ends. */
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "ended" };
