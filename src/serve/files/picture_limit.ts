import { PICTURE_HEAD, pictureSize } from "../../codecs/image/picture_size.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { headOf } from "../head_of.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";

/**
 * Rejects an image whose header declares too many pixels: a few bytes can declare gigabytes.
 *
 * @param limit Maximum number of pixels, as in the query.
 * @throws {ServeError} If the image has more, or the limit is not a number.
 */
export function* refuseBomb(
  served: Served,
  node: NodeId,
  limit: string,
): Steps<void> {
  if (!/^[0-9]{1,15}$/.test(limit)) {
    throw new ServeError("bad-request", "most-pixels must be a whole number");
  }
  const size = pictureSize(yield* headOf(served, node, PICTURE_HEAD));
  if (size === undefined || size.width * size.height <= Number(limit)) return;
  throw new ServeError(
    "too-large",
    `Cannot send the picture: its header has ${size.width} × ${size.height} pixels, more than ${limit}`,
  );
}
