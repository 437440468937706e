/** Sets an own property, whatever the key is: `__proto__`, assigned, would change the prototype. */
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
