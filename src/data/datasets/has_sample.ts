import { isIndex } from "../../tree/sample_indices.ts";

export function hasSample(
  { length }: { readonly length: number },
  index: number,
): boolean {
  return isIndex(index, length);
}
