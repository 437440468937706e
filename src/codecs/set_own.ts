/** Sets an own property for any key: assigning to `__proto__` would change the prototype. */
export function setOwn<T>(
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
