import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { decodeName } from "../../base/names.ts";
import { Signature, Size, variableSize } from "./layout.ts";
import type { MemberPlaces } from "./read/zip_builder.ts";

/** Bytes searched at a time. */
const PIECE = 1 << 20;
/** Minimum size of a member: its local header, and a name. */
const LEAST = Size.LOCAL + 1;
/** Highest version that a header may require, in tenths: 6.3. */
const LATEST_VERSION = 63;
const LARGEST_METHOD = 99;

/**
 * Finds members before, between and after those of the central directory. They are visible to programs that read a zip
 * from its start, from a pipe, or because its end is far away. Calls `found` with the offset and the name of each.
 */
export function* findUnlisted(
  source: ByteSource,
  { starts, ends, limit }: MemberPlaces,
  found: (offset: number, name: string) => void,
): Steps<void> {
  let from = 0;
  for (let i = 0; i <= starts.length; i++) {
    const to = i < starts.length ? starts[i]! : limit;
    if (to - from >= LEAST && i > 0) {
      const header = yield* readPart(source, starts[i - 1]!, Size.LOCAL);
      from += variableSize(header);
    }
    for (let at = from; to - at >= LEAST; at += PIECE) {
      const end = Math.min(to, at + PIECE + Size.LOCAL + 0xffff);
      const bytes = yield* readPart(source, at, end - at);
      findIn(bytes, Math.min(PIECE, end - at), at, found);
    }
    from = i < starts.length ? ends[i]! : limit;
  }
}

/** Searches for local headers that begin in the first `count` bytes. */
function findIn(
  bytes: Uint8Array,
  count: number,
  offset: number,
  found: (offset: number, name: string) => void,
): void {
  const view = viewOf(bytes);
  let at = bytes.indexOf(0x50);
  for (; at >= 0 && at < count; at = bytes.indexOf(0x50, at + 1)) {
    if (at + LEAST > bytes.length) return;
    if (view.getUint32(at, true) !== Signature.LOCAL) continue;
    // A self-extracting program may have the signature in its code.
    const isHeader = view.getUint8(at + 4) <= LATEST_VERSION &&
      view.getUint16(at + 8, true) <= LARGEST_METHOD;
    const start = at + Size.LOCAL;
    const end = start + view.getUint16(at + 26, true);
    if (!isHeader || end === start || end > bytes.length) continue;
    found(offset + at, decodeName(bytes.subarray(start, end)));
  }
}
