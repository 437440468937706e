import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { isUrl, shownLocation } from "../../io/remote/remote_location.ts";
import { check } from "../../open/open.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";

/** A container that is served. */
export interface ServedSource {
  /** What it is called, without secrets. */
  readonly location: string;
  /** The directory that it shows in; empty where it is all. */
  readonly path: string;
  /** Compares all its checksums. */
  check(options: CheckOptions): Promise<CheckReport>;
}

/** The containers of what was opened, as far as they are on this machine's disk. */
export function localSources(fs: VirtualFs): ServedSource[] {
  const opened = fs.info.containers ?? [{ location: fs.location, path: "" }];
  return opened.filter(({ location }) => isLocal(location))
    .map(({ location, path }) => ({
      location: shownLocation(location),
      path,
      check: (options) => check(location, options),
    }));
}

function isLocal(location: string): boolean {
  if (isUrl(location)) return false;
  try {
    Deno.statSync(location);
    return true;
  } catch {
    return false; // it may be memory
  }
}
