import { isNestedSuffix } from "../../open/nested_tree/nested_names.ts";
import { UsageError } from "../exit.ts";

/** Value of `--nested`: suffixes of nested containers; `true` for the usual ones. */
export type Nested = true | readonly string[];

/** Parses the value of `--nested=LIST`, which is empty without `=LIST`. */
export function parseNested(text: string): Nested {
  return text === "" ? true : text.split(",").map((suffix) => suffix.trim());
}

/** @throws {UsageError} If `--strip-suffix` is given alone, or a suffix is none. */
export function checkNested(
  { nested, stripSuffix }: {
    readonly nested?: Nested | undefined;
    readonly stripSuffix?: boolean | undefined;
  },
): void {
  if (nested === undefined && stripSuffix) {
    throw new UsageError("--strip-suffix needs --nested");
  }
  if (typeof nested !== "object") return;
  for (const suffix of nested) {
    if (isNestedSuffix(suffix)) continue;
    throw new UsageError(
      `--nested=${
        nested.join(",")
      }: '${suffix}' is not a suffix of file names, such as .tar`,
    );
  }
}
