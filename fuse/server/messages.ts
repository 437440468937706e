/**
 * What the main thread and a serving thread tell each other.
 *
 * @module
 */

import type { SerializedError } from "../../src/base/serialized_error.ts";
import type { TreeHandle } from "../../src/tree/tree.ts";
import type { FetchPorts } from "../fetching/fetch_thread.ts";
import type { ListAheadMemory } from "../session/list_ahead.ts";
import type { MappedSource } from "../content/mapping.ts";
import type { SampleChecksMemory } from "../checksums/sample_checks_memory.ts";
import type { Ownership } from "../wire/node_structs.ts";

/** First message to a serving thread: what it is to serve. */
export interface PrepareMessage {
  readonly kind: "prepare";
  readonly handle: TreeHandle;
  /** Those of its sources that are mapped, which come first; `undefined` where each thread maps what it needs. */
  readonly sources: readonly MappedSource[] | undefined;
  /** Number of threads that serve it. */
  readonly workers: number;
  readonly owner: Ownership;
  /** Memory of the mount's `ConnectionState`. */
  readonly connection: SharedArrayBuffer;
  /** Memory of the mount's `ListAhead`. */
  readonly listAhead: ListAheadMemory;
  /** Memory that they share to compare files with their checksums, where that is wanted. */
  readonly checks: SampleChecksMemory | undefined;
  /** Address of the thread's `RequestCounts`, where somebody may ask for them. */
  readonly counts: number | undefined;
  /** True to report each request. */
  readonly trace: boolean;
  /** Lead to the thread that fetches, where the tree shows what lies on servers. */
  readonly fetching: FetchPorts | undefined;
}

/** Second message: what to serve. The thread blocks from then on, and closes it at the end. */
export interface ServeMessage {
  readonly kind: "serve";
  /** Memory of the `ServedDescriptor`. */
  readonly descriptor: SharedArrayBuffer;
}

/** Report of a serving thread. */
export type WorkerReport =
  /** The tree is there; a descriptor may be sent. */
  | { readonly kind: "prepared" }
  /** The kernel and this server agreed on a protocol version. */
  | { readonly kind: "serving" }
  | { readonly kind: "log"; readonly message: string }
  | { readonly kind: "trace"; readonly line: string }
  /** The thread ends; `failure` says why, unless the mount simply ended. */
  | { readonly kind: "ended"; readonly failure: SerializedError | undefined };
