import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** Subjects of an {@linkcode ImageError}. */
export type ImageErrorCode =
  | "bad-image"
  | "codec-unavailable"
  | "image-too-large"
  | "unsupported-image";

/** An image is damaged, too large or of a kind that is not read here, or no codec is there. */
export class ImageError extends RecordfsError<ImageErrorCode> {
  /** Makes an error about an image; `facts.path` is the file, where there is one. */
  constructor(code: ImageErrorCode, reason: string, facts: ErrorFacts = {}) {
    const { path } = facts;
    super(code, path === undefined ? reason : `${path}: ${reason}`, facts);
  }
}
