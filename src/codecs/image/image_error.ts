import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** An image is damaged, too large or unsupported, or no codec is available. */
export class ImageError extends RecordfsError<
  "bad-image" | "codec-unavailable" | "image-too-large" | "unsupported-image"
> {
  /** Creates an error about an image; `facts.path` is its file, if any. */
  constructor(
    code: ImageError["code"],
    reason: string,
    facts: ErrorFacts = {},
  ) {
    const { path } = facts;
    super(
      code,
      path === undefined ? reason : `Cannot decode ${path}: ${reason}`,
      facts,
    );
  }
}
