import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { decompress } from "../../../io/block_cache/inflate.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { decodeName } from "../../../base/names.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { Method } from "../layout.ts";
import { LocalHeaders } from "./local_headers.ts";
import type { Member } from "./zip_builder.ts";

/** Longest target in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_TARGET = 4095;
/** Limit of its packed size: writers do not expand contents by more. */
const MOST_PACKED = 2 * LONGEST_TARGET;

/** Reads a symbolic link's target: `undefined` if it is damaged, no bytes if it is longer than any system follows. */
export function* readLinkTarget(
  source: ByteSource,
  member: Member,
): Steps<Uint8Array | undefined> {
  const { path, method, packed, size, crc32 } = member;
  if (size > LONGEST_TARGET) return new Uint8Array(0);
  if (packed > MOST_PACKED) return undefined;
  const name = decodeName(path);
  const fault = (why: string) =>
    memberError("bad-structure", source.name, name, `it ${why}`);
  try {
    const start = yield* LocalHeaders.ofOne(source, member).start(0);
    const bytes = yield* readPart(source, start, packed);
    const target = method === Method.STORED ? bytes : new Uint8Array(size);
    if (target !== bytes) {
      const how = method === Method.DEFLATED ? "deflate" : "zstd";
      yield* decompress(bytes, how, target, fault);
    }
    return crc32Of(target) === crc32 ? target : undefined;
  } catch (error) {
    if (error instanceof FormatError && error.code !== "changed") {
      return undefined;
    }
    throw error;
  }
}
