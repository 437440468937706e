import type { Arrangement } from "../../../data/trees/arrange_tree.ts";
import type { PlacedSource } from "../../input/given.ts";
import type { CommonOptions } from "../../input/options.ts";
import type { RemoteFlags } from "../../input/remote_flags.ts";

/** Containers, a mountpoint, and how they are served. Paths are absolute. */
export interface MountJob extends Arrangement {
  /** What messages call the container, or all of them. */
  readonly source: string;
  /** The containers, in the order of their samples; where each of several shows. */
  readonly sources: readonly PlacedSource[];
  readonly mountpoint: string;
  /** The list after `-o`. */
  readonly options: string;
  readonly format: string | undefined;
  /** URLs of the modules of formats that the container may be of. */
  readonly formatModules: readonly string[] | undefined;
  readonly ext: string | undefined;
  readonly decoded: boolean;
  /** The directory that is to be the root, if not all is to show. */
  readonly prefix: string | undefined;
  readonly trace: boolean;
  /** Threads that serve the mount, unless the default is to hold. */
  readonly workers: number | undefined;
  /** How servers are reached, and what is cached; left out where all containers are local and the usual cache is used. */
  readonly remote?: RemoteFlags | undefined;
  /** What becomes of the mount when nothing can serve it any more: it stays, dead, or is unmounted. */
  readonly onFailure: "dead" | "unmount";
}

/** What a mount shows, as it is given on the command line or in the list after `-o`. */
export interface ShownOptions
  extends Pick<CommonOptions, "format" | "ext" | "decoded" | "prefix"> {
  readonly subset?: string | undefined;
  readonly shuffle?: string | undefined;
  readonly epoch?: string | undefined;
  readonly onFailure?: MountJob["onFailure"] | undefined;
  /** Files or URLs of the modules of formats. */
  readonly formatModule?: readonly string[] | undefined;
}

/** What a server is told in a file, since others may see its arguments. */
export interface HiddenArguments {
  readonly sources: readonly PlacedSource[];
  readonly remote: RemoteFlags;
}

/** The options of `recordfs mount`. */
export interface MountCommandOptions
  extends ShownOptions, RemoteFlags, Pick<CommonOptions, "verify"> {
  readonly foreground?: true | undefined;
  readonly options: readonly string[];
  readonly trace?: true | undefined;
  readonly workers?: number | undefined;
  readonly replace?: true | undefined;
  /** Set in the process that `recordfs mount` leaves in the background: the path of its record. */
  readonly background?: string | undefined;
  /** Likewise: the containers, as the job has them, where plain paths would not do. */
  readonly sources?: string | undefined;
  /** Likewise: whether they, and how they are reached, stand in a file beside the record. */
  readonly hidden?: true | undefined;
  /** Likewise: the descriptors of /dev/fuse that it inherited. */
  readonly held?: string | undefined;
  /** Likewise: the descriptor of what its threads count in, or -1. */
  readonly counts?: string | undefined;
}
