import type { Steps } from "../concurrency/steps.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import type { DecodedBlocks } from "./decoded_blocks.ts";
import { DecodedSource } from "./decoded_source.ts";

/** A range of a file that encodes a content. */
export interface EncodedRange {
  readonly file: ByteSource;
  readonly offset: number;
  /** Encoded size in bytes. */
  readonly packed: number;
  /** Decoded size in bytes. */
  readonly size: number;
  /** Name of the content, for messages. */
  readonly name: string;
  /** Decodes the range. Throws a {@linkcode FormatError} if it is damaged. */
  decode(bytes: Uint8Array<ArrayBuffer>, into: Uint8Array): Steps<void>;
}

/** Returns an encoded range as a source of its own, made on demand and cached in `blocks` under `owner` and `number`. */
export function decodedRange(
  { file, offset, packed, size, name, decode }: EncodedRange,
  blocks: DecodedBlocks,
  owner: number,
  number: number,
): DecodedSource {
  const { prefetch, invalidate } = file;
  return new DecodedSource(
    {
      name,
      storedIn: file.name,
      size,
      mtime: file.mtime,
      isLocal: file.readAtSync !== undefined,
      *decode(into): Steps<void> {
        yield* decode(yield* readPart(file, offset, packed), into);
      },
      prefetch: prefetch && (() => file.prefetch!(offset, packed)),
      invalidate: invalidate && (() => file.invalidate!(offset, packed)),
    },
    blocks,
    owner,
    number,
  );
}
