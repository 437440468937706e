/** A pickle is damaged (`bad`) or asks for something that is never done (`unsafe`). */
export class PickleError extends Error {
  override name = "PickleError";
  readonly kind: "bad" | "unsafe";
  /** Byte offset in the pickle at which reading stopped. */
  readonly offset: number;

  constructor(kind: "bad" | "unsafe", offset: number, message: string) {
    super(message);
    this.kind = kind;
    this.offset = offset;
  }
}
