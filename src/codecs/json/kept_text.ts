/** A constructor that returns the object it is given: what extends it adds fields to that object. */
class Given {
  constructor(object: object) {
    return object;
  }
}

/**
 * The text that an object was parsed from, beside its own properties: JavaScript knows no `1.0` and
 * no order of the keys `10` and `2`, so that what is written unchanged is written by its text.
 *
 * A private field, which nobody sees, and which costs a tenth of what a `WeakMap` does.
 */
class KeptText extends Given {
  #text: string;

  constructor(object: object, text: string) {
    super(object);
    this.#text = text;
  }

  static of(object: object): string | undefined {
    return #text in object ? object.#text : undefined;
  }
}

/** Has a value that was just parsed, if it is a list or an object, remember its text. */
export function keepText<Value>(
  value: Value,
  text: string,
): Value {
  if (typeof value === "object" && value !== null) new KeptText(value, text);
  return value;
}

/** The text that a value was parsed from, if it is a list or an object that {@linkcode keepText} knows. */
export function keptText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null
    ? KeptText.of(value)
    : undefined;
}
