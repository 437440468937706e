/** The values of a datapoint, by key. */
export type Datapoint = Record<string, unknown>;

/** Sets an own property, whatever the key is. */
export function setValue<T>(
  of: Record<string, T>,
  key: string,
  value: NoInfer<T>,
): void {
  if (key !== "__proto__") of[key] = value;
  else {
    Object.defineProperty(of, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}
