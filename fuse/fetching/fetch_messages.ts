/**
 * What the threads of a mount and the one that fetches for them tell each other.
 *
 * @module
 */

import type { VerifiedContent } from "../../src/io/read/verified_content.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import type { RemoteOrigin } from "../../src/io/remote/remote_source.ts";
import type { TreeHandle } from "../../src/tree/tree.ts";
import type { SerializedError } from "../../src/base/serialized_error.ts";

/** An object of a server that the mount shows. */
export interface WantedObject {
  readonly origin: WantedPlace & Pick<RemoteOrigin, "path">;
  /** What it was when it was opened. */
  readonly tag: string;
}

/** A place on a server, below which threads open what they need. */
export interface WantedPlace extends Omit<RemoteOrigin, "path"> {
  /** Paths of caches that the main thread has warned of. */
  readonly warned: readonly string[];
  /** What the main thread knows of stores that fail. */
  readonly backoffs: SharedArrayBuffer;
}

/** What the main thread tells the one that fetches. */
export type ToFetchThread =
  /** Open these, whose numbers are those of their places here. */
  | {
    readonly kind: "open";
    readonly objects: readonly WantedObject[];
    readonly places: readonly WantedPlace[];
  }
  /** Answer what a serving thread asks, and what it hands over. */
  | {
    readonly kind: "reach";
    readonly thread: number;
    readonly port: MessagePort;
    /** By which it asks, and waits for the answer. */
    readonly asking: MessagePort;
  }
  /** It serves: what it hands over comes through this descriptor, a further number of its own, which is this thread's. */
  | { readonly kind: "serve"; readonly thread: number; readonly fd: number }
  /** That thread has ended. */
  | { readonly kind: "ended"; readonly thread: number }
  /** What is known of the mount by now: where files are noted that match their checksums, where it counts, and its device number. */
  | {
    readonly kind: "mounted";
    readonly nodes?: SharedArrayBuffer | undefined;
    readonly counts?: number | undefined;
    readonly device?: string | undefined;
    /** Whether each range is reported. */
    readonly trace?: boolean | undefined;
  }
  /** The tree has links to samples, in an order; these are the indices of its sources that were to be opened. */
  | {
    readonly kind: "follow";
    readonly tree: TreeHandle;
    readonly sources: readonly number[];
  }
  | { readonly kind: "stop" };

/** What it says. */
export type FromFetchThread =
  | {
    readonly kind: "opened";
    /** Where each object's fetched blocks are, unless no file has them. */
    readonly maps: readonly (BlockMap | undefined)[];
  }
  | { readonly kind: "failed"; readonly error: SerializedError }
  | { readonly kind: "log"; readonly message: string }
  | { readonly kind: "trace"; readonly line: string }
  | { readonly kind: "stopped" };

/** A READ of what is not there yet, or has to be compared by the thread that fetches. */
export interface HandedRead {
  readonly kind: "read";
  readonly uniqueLow: number;
  readonly uniqueHigh: number;
  /** Who waits for it, or 0. */
  readonly pid: number;
  /** Number of the object, and of the bytes' place in it. */
  readonly object: number;
  readonly start: number;
  readonly length: number;
  /** The sample they are of, if that has to be compared with its checksum. */
  readonly sample: HandedSample | undefined;
}

/** A sample that is to be compared before any of it is sent. */
export interface HandedSample extends VerifiedContent {
  readonly node: number;
  /** Its number, for messages; -1 where there is none. */
  readonly number: number;
  /** Whether what was kept of it is known to be wrong. */
  readonly isWrong: boolean;
}

/** What serving threads tell the one that fetches. */
export type HandedOver =
  | HandedRead
  /** A marked block was sent. */
  | {
    readonly kind: "marked";
    readonly object: number;
    readonly block: number;
  }
  /** A symbolic link was read. */
  | { readonly kind: "link"; readonly node: number };

/** What a serving thread has to know before it can go on. */
export type Question =
  | { readonly about: "open" | "list" | "stat"; readonly path: string }
  | {
    readonly about: "read";
    readonly object: number;
    readonly offset: number;
    readonly length: number;
  };

/** A question, and the word that is set to 1 when its answer has been sent. */
export interface Asked {
  readonly question: Question;
  readonly answered: Int32Array<SharedArrayBuffer>;
}

/** Answer to "open": the source, without what reads it. */
export interface OpenedObject {
  readonly object: number;
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly map: BlockMap | undefined;
}

/** The answer to a question. */
export type Answered =
  | { readonly value: unknown }
  | { readonly error: SerializedError };
