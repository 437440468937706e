import type { Arrangement } from "../../../data/trees/arrange_tree.ts";
import type { PlacedSource } from "../../input/given.ts";
import type { Nested } from "../../input/nested_flag.ts";
import type { CommonOptions } from "../../input/options.ts";
import type { RemoteFlags } from "../../input/remote_flags.ts";

/** Containers, a mount point, and how to serve them. Paths are absolute. */
export interface MountJob extends Arrangement {
  /** Name of the container, or of all of them, in messages. */
  readonly source: string;
  /** The containers in sample order, with the directory of each if there are several. */
  readonly sources: readonly PlacedSource[];
  readonly mountpoint: string;
  readonly options: string;
  readonly format: string | undefined;
  readonly formatModules: readonly string[] | undefined;
  readonly ext: string | undefined;
  readonly maxRatio?: number | undefined;
  readonly nested?: Nested | undefined;
  readonly stripSuffix?: boolean | undefined;
  readonly decoded: boolean;
  /** Directory to show as the root, if not everything. */
  readonly prefix: string | undefined;
  readonly trace: boolean;
  readonly workers: number | undefined;
  /** Remote and cache options; absent if all containers are local and the default cache is used. */
  readonly remote?: RemoteFlags | undefined;
  /** What happens to the mount when nothing can serve it any more: it stays, dead, or is unmounted. */
  readonly onFailure: "dead" | "unmount";
}

/** Options that select what a mount shows, from the command line or the list after `-o`. */
export interface ShownOptions extends
  Pick<
    CommonOptions,
    | "format"
    | "ext"
    | "maxRatio"
    | "nested"
    | "stripSuffix"
    | "decoded"
    | "prefix"
  > {
  readonly subset?: string | undefined;
  readonly shuffle?: string | undefined;
  readonly epoch?: string | undefined;
  readonly onFailure?: MountJob["onFailure"] | undefined;
  readonly formatModule?: readonly string[] | undefined;
}

/** Arguments passed to a server in a file, since others may see its command line. */
export interface HiddenArguments {
  readonly sources: readonly PlacedSource[];
  readonly remote: RemoteFlags;
}

export interface MountCommandOptions
  extends ShownOptions, RemoteFlags, Pick<CommonOptions, "verify"> {
  readonly foreground?: true | undefined;
  readonly options: readonly string[];
  readonly trace?: true | undefined;
  readonly workers?: number | undefined;
  readonly replace?: true | undefined;
  /** Set in the background process: id of the mount's files. */
  readonly background?: string | undefined;
  /** Set in the background process: the containers as JSON, where plain paths do not suffice. */
  readonly sources?: string | undefined;
  /** Set in the background process: whether the containers and remote options are in a file next to the record. */
  readonly hidden?: true | undefined;
  /** Set in the background process: the inherited descriptors of /dev/fuse. */
  readonly held?: string | undefined;
  /** Set in the background process: descriptor of the counter file, or -1. */
  readonly counts?: string | undefined;
}
