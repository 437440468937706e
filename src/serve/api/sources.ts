import { isUrl, shownLocation } from "../../io/remote/remote_location.ts";
import { check } from "../../open/open.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { ServedSource } from "../options.ts";

/** Returns the opened containers that are local files. */
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
    return false; // not a file, perhaps in memory
  }
}
