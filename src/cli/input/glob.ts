import picomatch from "picomatch";
import { RecordfsError } from "../../errors.ts";
import { compileGlob as compile, type Glob } from "../../vfs/glob.ts";
import { UsageError } from "../exit.ts";

/**
 * Understands a glob of the command line, as all of recordfs does.
 *
 * @throws {UsageError} If it is none.
 */
export function compileGlob(glob: string): Glob {
  try {
    return compile(glob, picomatch.makeRe);
  } catch (error) {
    if (error instanceof RecordfsError) throw new UsageError(error.message);
    throw error;
  }
}
