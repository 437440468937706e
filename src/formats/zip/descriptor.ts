import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { lastEndOf, readTail, Signature, Size } from "./layout.ts";

/** File names of zips, including formats based on zip. */
const SUFFIXES = [".zip", ".npz", ".docx", ".xlsx", ".pptx", ".jar", ".whl"];

/** Zip archives: their files. */
export const zip: FormatDescriptor = {
  name: "zip",
  description: "zip archives: zip, npz, docx, jar",
  suffixes: SUFFIXES,
  nestedSuffixes: [".zip"],
  isArchive: true,
  areFiles: true,
  detect,
  targets: [{ name: "zip", suffix: ".zip" }],
  load: async () => (await import("./format.ts")).zip,
};

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return false;
  // A damaged file with such a name gets this format's error messages.
  if (SUFFIXES.some((suffix) => path.endsWith(suffix))) return true;
  if (size < Size.END) return false;
  const first = viewOf(yield* read(0, 4)).getUint32(0, true);
  if (first === Signature.LOCAL || first === Signature.END) return true;
  // A self-extracting zip begins as a program.
  const tail = yield* readTail(size, read);
  const at = lastEndOf(tail);
  if (at === undefined || at + Size.END > tail.bytes.length) return false;
  const locator = at - Size.LOCATOR64;
  const is64 = locator >= 0 &&
    tail.view.getUint32(locator, true) === Signature.LOCATOR64;
  if (is64) return true;
  const length = tail.view.getUint32(at + 12, true);
  const start = tail.start + at - length;
  if (length < Size.CENTRAL || start < 0) return false;
  const begin = viewOf(yield* read(start, 4));
  return begin.getUint32(0, true) === Signature.CENTRAL;
}
