import type { Steps } from "../../../io/concurrency/steps.ts";
import type { DecodedBlocks } from "../../../io/block_cache/decoded_blocks.ts";
import {
  DecodedSource,
  type EncodedContent,
  mostAtOnce,
} from "../../../io/block_cache/decoded_source.ts";
import {
  type DecodeFault,
  decompress,
} from "../../../io/block_cache/inflate.ts";
import {
  isInParts,
  type LargeContent,
  LargeSource,
} from "../../../io/compressed/large_source.ts";
import {
  innerMethodOf,
  type Method as StreamMethod,
} from "../../../io/compressed/methods.ts";
import { fill } from "../../../io/read/read_part.ts";
import { SpareMemory } from "../../../io/read/spare_memory.ts";
import type { RemoteOptions } from "../../../io/remote/remote_options.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { Method } from "../layout.ts";
import type { LocalHeaders } from "../read/local_headers.ts";
import type { ZipColumns } from "../read/zip_columns.ts";
import { MemberSources } from "../../../tree/archive/member_sources.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Memory that encoded members of up to 1 MiB are read into. */
const spare = new SpareMemory(1);

/** Encoded contents of a zip's members, and where they are decoded to. */
export interface MemberPlace {
  readonly archive: ByteSource;
  readonly storage: Storage;
  readonly columns: ZipColumns;
  readonly locals: LocalHeaders;
  readonly nameOf: (record: number) => string;
  readonly blocks: DecodedBlocks;
  /** Number of the zip among owners of blocks. */
  readonly owner: number;
  /** Where what is known of large members is cached. */
  readonly cache?: RemoteOptions["cache"];
}

/** Returns the compressed members of a zip as sources by record, which are decoded when read. */
export function zipMembers(place: MemberPlace): MemberSources {
  const { columns, blocks, owner, cache } = place;
  return new MemberSources(place, (record) => {
    if (!(record < columns.sizes.length)) return undefined;
    const content = new ZipMember(place, record);
    if (content.size > mostAtOnce(blocks) && isInParts(content.method)) {
      const remote = { cache };
      return new LargeSource(content, {
        blocks,
        owner,
        number: record,
        remote,
      });
    }
    return new DecodedSource(content, blocks, owner, record);
  });
}

class ZipMember implements EncodedContent, LargeContent {
  readonly storedIn: string;
  readonly size: number;
  readonly mtime: number;
  readonly isLocal: boolean;
  readonly prefetch?: () => boolean;
  readonly invalidate?: () => void;
  readonly #place: MemberPlace;
  readonly #record: number;
  readonly fault: DecodeFault = (why, cause) => {
    const { archive, columns, nameOf } = this.#place;
    return memberError(
      "bad-structure",
      archive.name,
      nameOf(this.#record),
      `it ${why}: it is damaged, or its size is wrong. Download the zip ` +
        "again",
      { offset: columns.headers[this.#record]!, cause },
    );
  };

  constructor(place: MemberPlace, record: number) {
    const { archive, columns, locals } = place;
    this.#place = place;
    this.#record = record;
    this.storedIn = archive.name;
    this.size = columns.sizes[record]!;
    this.mtime = archive.mtime;
    this.isLocal = archive.readAtSync !== undefined;
    if (archive.prefetch) this.prefetch = () => locals.prefetch(record);
    if (archive.invalidate) {
      this.invalidate = () => {
        const start = columns.headers[record]!;
        const past = locals.starts[record]! || start;
        archive.invalidate!(start, past - start + columns.packed[record]!);
      };
    }
  }

  /** Computed only for messages: finding the path takes as long as the rest of a read except for inflating. */
  get name(): string {
    const { archive, nameOf } = this.#place;
    return `${archive.name}: '${nameOf(this.#record)}'`;
  }

  get file(): ByteSource {
    return this.#place.archive;
  }

  get packed(): number {
    return this.#place.columns.packed[this.#record]!;
  }

  get method(): StreamMethod {
    return innerMethodOf(this.#compression);
  }

  *decode(into: Uint8Array): Steps<void> {
    const start = yield* this.locate();
    const { packed } = this;
    const bytes = spare.take(packed);
    yield* fill(this.#place.archive, bytes, start);
    yield* decompress(bytes, this.#compression, into, this.fault);
    spare.giveBack(bytes);
  }

  get #compression(): "deflate" | "zstd" {
    const method = this.#place.columns.methods[this.#record];
    return method === Method.DEFLATED ? "deflate" : "zstd";
  }

  locate(): Steps<number> {
    return this.#place.locals.start(this.#record);
  }
}
