import picomatch from "picomatch";
import { RecordfsError } from "../../base/errors.ts";
import { compileGlob as compile, type Glob } from "../../tree/vfs/glob.ts";
import { asUsage } from "../exit.ts";

/** @throws {UsageError} If the glob is invalid. */
export function compileGlob(glob: string): Glob {
  return asUsage(RecordfsError, () => compile(glob, picomatch.makeRe));
}
