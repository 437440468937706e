import * as fs from "node:fs";
import { RecordfsError } from "../../base/errors.ts";
import {
  LARGEST_SPEC,
  parseSpec,
  type Spec,
  specOf,
} from "../../formats/bags/dataset/spec.ts";
import { runSync } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import { openError } from "../../io/storage/file_source.ts";
import { requireLocal } from "../../io/storage/local_path.ts";
import { UsageError } from "../exit.ts";

/**
 * Parses the value of `--spec`, types by key: JSON if it starts with a brace, else the path of a JSON file. A file name
 * that starts with a brace must be written as `./{…`. Throws if it cannot be read, or is not a spec.
 */
export function givenSpec(given: string): Spec {
  if (given.trim() === "") throw new UsageError("--spec is empty");
  if (/^\s*\{/.test(given)) {
    return specFrom(new TextEncoder().encode(given), "--spec");
  }
  requireLocal(given);
  try {
    return specFile(given);
  } catch (error) {
    const isMissing = error instanceof RecordfsError && error.code === "ENOENT";
    if (!isMissing) throw error;
    throw new RecordfsError(
      error.code,
      `${error.message}. Give --spec a file, or JSON such as {"text": "utf8"}`,
      { path: given, cause: error },
    );
  }
}

export function specFile(file: string): Spec {
  return specFrom(readSpec(file), file);
}

/** The bag generation determines which types are lists; the order of the keys does not matter here. */
function specFrom(bytes: Uint8Array, name: string): Spec {
  return specOf(parseSpec(bytes, name, false));
}

function readSpec(file: string): Uint8Array {
  try {
    const stat = fs.statSync(file);
    if (stat.isFile() && stat.size <= LARGEST_SPEC) {
      return runSync(readFile(file));
    }
  } catch (error) {
    throw openError(file, error);
  }
  throw new RecordfsError(
    "bad-spec",
    `Cannot read ${file} as a spec: it is not a regular file, or has more than ${LARGEST_SPEC} bytes`,
    { path: file },
  );
}
