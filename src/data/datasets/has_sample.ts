/** Whether a dataset has a sample of that index. */
export function hasSample(
  { length }: { readonly length: number },
  index: number,
): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < length;
}
