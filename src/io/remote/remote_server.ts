import type { Patience } from "./client.ts";
import type { ListedFile } from "./listed_file.ts";
import type { Target } from "./target.ts";

/** A web server or a bucket: what its paths are. */
export interface RemoteServer {
  /** The object at a path. */
  target(path: string): Target;
  /** The entries of a directory; `undefined` where there is none. */
  list(
    path: string,
    patience: Patience,
  ): Promise<readonly ListedFile[] | undefined>;
  /** Whether a path where no object is may be a directory: only asking for its entries tells. */
  readonly hidesDirectories: boolean;
}
