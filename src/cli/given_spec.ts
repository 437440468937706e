import * as fs from "node:fs";
import { RecordfsError } from "../errors.ts";
import {
  LARGEST_SPEC,
  parseSpec,
  type Spec,
  specOf,
} from "../formats/bags/spec.ts";
import { openError } from "../io/file_source.ts";
import { UsageError } from "./exit.ts";

/**
 * The types by key that were given as `--spec`.
 *
 * @param given JSON, or the path of a file of it.
 * @throws {RecordfsError} If it can't be read, or is no spec.
 */
export function givenSpec(given: string): Spec {
  if (given === "") throw new UsageError("--spec is empty");
  return /^\s*\{/.test(given)
    ? specFrom(new TextEncoder().encode(given), "--spec")
    : specFrom(readSpec(given), given);
}

/** The types by key in a file. */
export function specFile(file: string): Spec {
  return specFrom(readSpec(file), file);
}

/** Which types are lists, the generation says; in which order the keys are does not matter here. */
function specFrom(bytes: Uint8Array, name: string): Spec {
  return specOf(parseSpec(bytes, name, false));
}

function readSpec(file: string): Uint8Array {
  try {
    const stat = fs.statSync(file);
    if (stat.isFile() && stat.size <= LARGEST_SPEC) {
      return fs.readFileSync(file);
    }
  } catch (error) {
    throw openError(file, error);
  }
  throw new RecordfsError(
    "bad-spec",
    `Cannot read ${file} as a spec: it is no regular file, or has more than ${LARGEST_SPEC} bytes`,
    { path: file },
  );
}
