/** Bytes that are not JSON as Python reads it. */
export class JsonError extends Error {
  override name = "JsonError";
  /** Byte offset at which reading stopped. */
  readonly offset: number;

  /** @param what What is wrong there: continues "… is not JSON: ". */
  constructor(offset: number, what: string) {
    super(`${what} (byte ${offset})`);
    this.offset = offset;
  }
}
