/** What is wrong with a page; whoever knows its file and column makes an error of it. */
export class PageFault extends Error {
  /** Whether it is wrong for all rows of a column chunk, and not of these pages alone. */
  isOfAll = false;
  readonly kind: "damaged" | "sum" | "too-large" | "unsupported";

  constructor(
    message: string,
    kind: PageFault["kind"] = "damaged",
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
