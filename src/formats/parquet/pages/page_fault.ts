/** Fault of a page. Callers that know the file and column convert it to a {@linkcode FormatError}. */
export class PageFault extends Error {
  /** Whether it affects all rows of the column chunk, not just these pages. */
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
