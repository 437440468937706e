import { isUrl } from "../../io/remote/remote_location.ts";
import type {
  InternalOptions,
  RemoteStorage,
} from "../../io/remote/remote_storage.ts";
import type { RemoteFlags } from "./remote_flags.ts";

/** Makes what reaches a server, by its URL; nothing for what is on this machine. */
export async function storages(
  flags: RemoteFlags,
  options: InternalOptions,
): Promise<(location: string) => RemoteStorage | undefined> {
  const [{ RemoteStorage }, { remoteOf }] = await Promise.all([
    import("../../io/remote/remote_storage.ts"),
    import("./remote_flags.ts"),
  ]);
  const remote = remoteOf(flags);
  return (location) =>
    isUrl(location) ? new RemoteStorage(location, remote, options) : undefined;
}

/** A location, and what it is reached by, as what opens it takes both. */
export async function storedLocation(
  location: string,
  flags: RemoteFlags,
  options: InternalOptions,
): Promise<
  { readonly location: string; readonly storage: RemoteStorage | undefined }
> {
  const storage = (await storages(flags, options))(location);
  return { location: storage?.root ?? location, storage };
}
