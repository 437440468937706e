import { open } from "../../vfs/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../vfs/virtual_fs.ts";
import { Flood, warn } from "../messages.ts";
import { asUsageError, checkExt, checkSource, parsePlaced } from "./given.ts";
import type { CommonOptions } from "./options.ts";
import { remoteOf } from "./remote_flags.ts";

/**
 * Opens a container, or several as one, as the command line asks for.
 *
 * @throws {UsageError} If several can't stand in one tree.
 */
export async function openSource(
  source: string,
  options: CommonOptions,
): Promise<VirtualFs> {
  const { format, ext, decoded, verify, add, prefix } = options;
  checkSource(source, "the container");
  checkExt(options);
  const opened = add === undefined ? source : [source, ...add].map(parsePlaced);
  const warnings = new Flood(warn, options);
  try {
    return await open(opened, {
      format,
      ext,
      decoded,
      prefix,
      checkData: verify,
      remote: remoteOf(options),
      onWarning: (message) => warnings.add(message),
    });
  } catch (error) {
    throw await asUsageError(error);
  } finally {
    warnings.end();
  }
}
