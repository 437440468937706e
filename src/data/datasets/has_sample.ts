import { isIndex } from "../../tree/sample_indices.ts";

/** True if a dataset has a sample of that index. */
export function hasSample(
  { length }: { readonly length: number },
  index: number,
): boolean {
  return isIndex(index, length);
}
