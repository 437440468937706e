import { chainedPath } from "../../io/storage/chained_path.ts";
import { isUrl } from "../../io/remote/remote_location.ts";
import type {
  InternalOptions,
  RemoteStorage,
} from "../../io/remote/remote_storage.ts";
import type { RemoteFlags } from "./remote_flags.ts";

/** Returns a function that creates the storage of a URL; it returns `undefined` for local paths. */
export async function storages(
  flags: RemoteFlags,
  options: InternalOptions,
): Promise<(location: string) => RemoteStorage | undefined> {
  const [{ RemoteStorage }, { remoteOf }] = await Promise.all([
    import("../../io/remote/remote_storage.ts"),
    import("./remote_flags.ts"),
  ]);
  const remote = remoteOf(flags);
  return (location) => {
    const plain = chainedPath(location);
    return isUrl(plain) ? new RemoteStorage(plain, remote, options) : undefined;
  };
}

/** Returns a location in the form that opening takes, with its storage. */
export async function storedLocation(
  location: string,
  flags: RemoteFlags,
  options: InternalOptions,
): Promise<
  { readonly location: string; readonly storage: RemoteStorage | undefined }
> {
  const storage = (await storages(flags, options))(location);
  return { location: storage?.root ?? chainedPath(location), storage };
}
