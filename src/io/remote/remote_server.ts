import type { RequestLimits } from "./client.ts";
import type { ListedFile } from "./listed_file.ts";
import type { Target } from "./target.ts";

export interface RemoteServer {
  target(path: string): Target;
  /** Lists the entries of a directory; `undefined` if it does not exist. */
  list(
    path: string,
    patience: RequestLimits,
  ): Promise<readonly ListedFile[] | undefined>;
  /** Whether a path without an object may be a directory, which only listing it shows. */
  readonly hidesDirectories: boolean;
}
