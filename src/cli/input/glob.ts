import picomatch from "picomatch";
import { RecordfsError } from "../../base/errors.ts";
import { compileGlob as compile, type Glob } from "../../tree/vfs/glob.ts";
import { asUsage } from "../exit.ts";

/**
 * Understands a glob of the command line, as all of recordfs does.
 *
 * @throws {UsageError} If it is none.
 */
export function compileGlob(glob: string): Glob {
  return asUsage(RecordfsError, () => compile(glob, picomatch.makeRe));
}
