/** Collects the values of an option that may be given many times; completion knows it by this. */
export function collect(
  value: string,
  before: readonly string[] = [],
): readonly string[] {
  return [...before, value];
}
