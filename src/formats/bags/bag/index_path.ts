/** The index of a generation-3 bag: `foo.idx` for `foo.bag`. */
export function indexPath(bagPath: string): string {
  return bagPath.replace(/\.[^./]*$/, "") + ".idx";
}
