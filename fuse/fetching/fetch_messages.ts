/**
 * Messages between the threads of a mount and its fetch thread.
 *
 * @module
 */

import type { VerifiedContent } from "../../src/io/read/verified_content.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import type { RemoteOrigin } from "../../src/io/remote/remote_source.ts";
import type { TreeHandle } from "../../src/tree/tree.ts";
import type { SerializedError } from "../../src/base/serialized_error.ts";
import type { NamedOption } from "../../src/base/named_option.ts";

export interface WantedObject {
  readonly origin: WantedPlace & Pick<RemoteOrigin, "path">;
  /** Its version tag when it was opened. */
  readonly tag: string;
}

/** A remote location below which threads open what they need. */
export interface WantedPlace extends Omit<RemoteOrigin, "path"> {
  /** Paths of caches that the main thread has already warned about. */
  readonly warned: readonly string[];
  /** Backoff state of failing servers, shared with the main thread. */
  readonly backoffs: SharedArrayBuffer;
}

/** Message from the main thread to the fetch thread. */
export type ToFetchThread =
  /** Open these objects. Their indices become their object numbers. */
  | {
    readonly kind: "open";
    readonly objects: readonly WantedObject[];
    readonly places: readonly WantedPlace[];
  }
  /** Accept the requests and delegated reads of a serving thread. */
  | {
    readonly kind: "reach";
    readonly thread: number;
    readonly port: MessagePort;
    /** Port of the blocking requests. */
    readonly asking: MessagePort;
  }
  /** A thread serves. Replies to its delegated reads go to `fd`, a duplicate that the fetch thread closes. */
  | { readonly kind: "serve"; readonly thread: number; readonly fd: number }
  /** The thread has ended. */
  | { readonly kind: "ended"; readonly thread: number }
  /** Facts of the mount: the bitmap of verified nodes, the address of the counters, and the device number. */
  | {
    readonly kind: "mounted";
    readonly nodes?: SharedArrayBuffer | undefined;
    readonly counts?: number | undefined;
    readonly device?: string | undefined;
    /** Whether to report each fetched range. */
    readonly trace?: boolean | undefined;
  }
  /** The tree has links to samples, in an order. `sources[i]` is the source index of object `i`. */
  | {
    readonly kind: "follow";
    readonly tree: TreeHandle;
    readonly sources: readonly number[];
  }
  | { readonly kind: "stop" };

/** Message from the fetch thread to the main thread. */
export type FromFetchThread =
  | {
    readonly kind: "opened";
    /** Cache file of each object's fetched blocks; `undefined` if no file has them. */
    readonly maps: readonly (BlockMap | undefined)[];
  }
  | { readonly kind: "failed"; readonly error: SerializedError }
  | {
    readonly kind: "log";
    readonly message: string;
    /** Options that it names. */
    readonly options: readonly NamedOption[] | undefined;
  }
  | { readonly kind: "trace"; readonly line: string }
  | { readonly kind: "stopped" };

/** A READ that the fetch thread answers, because its bytes must be fetched or verified there. */
export interface DelegatedRead {
  readonly kind: "read";
  readonly uniqueLow: number;
  readonly uniqueHigh: number;
  /** Process that waits for it, or 0. */
  readonly pid: number;
  /** Number of the object, and offset of the bytes in it. */
  readonly object: number;
  readonly start: number;
  readonly length: number;
  /** The sample that contains the bytes, if its checksum must be verified. */
  readonly sample: DelegatedSample | undefined;
}

/** A sample to verify before any of its bytes are sent. */
export interface DelegatedSample extends VerifiedContent {
  readonly node: number;
  /** Sample number for messages, or -1. */
  readonly number: number;
  /** Whether the cached bytes are known to be wrong. */
  readonly isWrong: boolean;
}

/** Message from a serving thread to the fetch thread. */
export type DelegatedRequest =
  | DelegatedRead
  | {
    readonly kind: "marked";
    readonly object: number;
    readonly block: number;
  }
  | { readonly kind: "link"; readonly node: number };

/** Blocking request of a serving thread. */
export type FetchRequest =
  | { readonly about: "open" | "list" | "stat"; readonly path: string }
  | {
    readonly about: "read";
    readonly object: number;
    readonly offset: number;
    readonly length: number;
  };

/** A request, and the word that is set to 1 once its response has been sent. */
export interface PendingRequest {
  readonly question: FetchRequest;
  readonly answered: Int32Array<SharedArrayBuffer>;
}

/** Response to "open": the source's metadata. */
export interface OpenedObject {
  readonly object: number;
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly map: BlockMap | undefined;
}

export type FetchResponse =
  | { readonly value: unknown }
  | { readonly error: SerializedError };
