/** Who takes part: what promises and relations are about. */
export type Kind =
  | "recordfs"
  | "recordfs, verifying"
  | "libfuse"
  | "libfuse, from a map"
  | "libfuse, defaults"
  | "squashfuse"
  | "fuse-zip"
  | "EROFS"
  | "ext4";

/** A file system that answers. */
export interface Serving {
  readonly mountpoint: string;
  /** The server's process; the kernel has none. */
  readonly pid?: number;
  /** From the start of the command to an answer about a file, in milliseconds. */
  readonly readyAfter: number;
  /** Stopping twice is harmless. */
  stop(): Promise<void>;
}

/** One of those that are measured in turn, with all it needs to start. */
export interface Contender {
  readonly kind: Kind;
  readonly name: string;
  /** What it serves, brought into the page cache before each start. */
  readonly image: string;
  /** Starts it on an empty directory. */
  start(mountpoint: string): Promise<Serving>;
  /** Why it can't take part, and what to do about it. */
  readonly missing?: string;
  /** Whether all it shows is in the page cache from before, so that there is no cold pass. */
  readonly isCached?: true;
}
