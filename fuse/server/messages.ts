/**
 * Messages between the main thread and a serving thread.
 *
 * @module
 */

import type { SerializedError } from "../../src/base/serialized_error.ts";
import type { NamedOption } from "../../src/base/named_option.ts";
import type { TreeHandle } from "../../src/tree/tree.ts";
import type { FetchPorts } from "../fetching/fetch_thread.ts";
import type { ListAheadMemory } from "../session/list_ahead.ts";
import type { MappedSource } from "../content/mapping.ts";
import type { SampleChecksMemory } from "../checksums/sample_checks_memory.ts";
import type { Ownership } from "../wire/node_structs.ts";

/** First message to a serving thread: the tree to serve. */
export interface PrepareMessage {
  readonly kind: "prepare";
  readonly handle: TreeHandle;
  /** The mapped sources, which come first; `undefined` if each thread maps what it needs. */
  readonly sources: readonly MappedSource[] | undefined;
  readonly workers: number;
  readonly owner: Ownership;
  /** Memory of the mount's `ConnectionState`. */
  readonly connection: SharedArrayBuffer;
  readonly listAhead: ListAheadMemory;
  /** Shared memory for verifying checksums, if enabled. */
  readonly checks: SampleChecksMemory | undefined;
  /** Address of the thread's `RequestCounts`, if counting is enabled. */
  readonly counts: number | undefined;
  /** Whether to report each request. */
  readonly trace: boolean;
  /** Ports of the fetch thread, if the tree has remote sources. */
  readonly fetching: FetchPorts | undefined;
}

/** Second message: the descriptor to serve. The thread then blocks, and closes the descriptor at the end. */
export interface ServeMessage {
  readonly kind: "serve";
  readonly descriptor: SharedArrayBuffer;
}

/** Report of a serving thread. */
export type WorkerReport =
  /** The tree is ready; a descriptor may be sent. */
  | { readonly kind: "prepared" }
  /** INIT has been answered. */
  | { readonly kind: "serving" }
  | {
    readonly kind: "log";
    readonly message: string;
    /** Options that it names. */
    readonly options: readonly NamedOption[] | undefined;
  }
  | { readonly kind: "trace"; readonly line: string }
  /** The thread ends. `failure` is the reason, unless the mount simply ended. */
  | { readonly kind: "ended"; readonly failure: SerializedError | undefined };
