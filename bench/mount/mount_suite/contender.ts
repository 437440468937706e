/** Kind of contender, which promises and plausibility checks refer to. */
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

/** Mounted file system that responds. */
export interface Serving {
  readonly mountpoint: string;
  /** Process id of the server, if there is one: kernel file systems have none. */
  readonly pid?: number;
  /** Time from the start of the command to the first response about a file, in milliseconds. */
  readonly readyAfter: number;
  /** Unmounts. Stopping twice is harmless. */
  stop(): Promise<void>;
}

/** File system to measure, with everything needed to start it. */
export interface Contender {
  readonly kind: Kind;
  readonly name: string;
  /** Image to serve, brought into the page cache before each start. */
  readonly image: string;
  /** Mounts it on an empty directory. */
  start(mountpoint: string): Promise<Serving>;
  /** Why it can't take part, and how to fix that. */
  readonly missing?: string;
  /** Whether everything is already in the page cache, so that there is no cold pass. */
  readonly isCached?: true;
}
