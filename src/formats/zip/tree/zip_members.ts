import type { Steps } from "../../../io/concurrency/steps.ts";
import type { DecodedBlocks } from "../../../io/decoded/decoded_blocks.ts";
import {
  DecodedSource,
  type EncodedContent,
} from "../../../io/decoded/decoded_source.ts";
import {
  decompress,
  type Deflated,
  InflatePieces,
  inflatesPieces,
} from "../../../io/decoded/inflate.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { LazySources } from "../../../tree/tree.ts";
import { Method } from "../layout.ts";
import type { LocalHeaders } from "../read/local_headers.ts";
import type { ZipColumns } from "../read/zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Sources that are kept, with where they are in their contents. */
const MOST_KEPT = 1024;

/** Bytes of memory that is kept for the next member. */
const MOST_SPARE = 1 << 20;

/** What the last member was read into: new memory would take as long as half of its inflating. */
let spare = new Uint8Array(0);

/** Memory of at least so many bytes, which nobody else has. */
function takeMemory(length: number): Uint8Array<ArrayBuffer> {
  const memory = spare;
  spare = new Uint8Array(0);
  if (memory.length >= length) return memory;
  return new Uint8Array(Math.max(length, Math.min(2 * length, MOST_SPARE)));
}

/** Keeps memory that nobody looks at any more. */
function giveBack(memory: Uint8Array<ArrayBuffer>): void {
  if (memory.length <= MOST_SPARE) spare = memory;
}

/** What the contents of a zip's members are decoded from, and to. */
export interface MemberPlace {
  /** The zip. */
  readonly archive: ByteSource;
  readonly storage: Storage;
  readonly columns: ZipColumns;
  readonly locals: LocalHeaders;
  /** The path of a record, for messages. */
  readonly nameOf: (record: number) => string;
  readonly blocks: DecodedBlocks;
  /** The zip, among what has blocks. */
  readonly owner: number;
}

/** The compressed members of a zip, by their records: each is a source that is decoded when it is read. */
export class ZipMembers implements LazySources {
  readonly path: string;
  readonly storage: Storage;
  readonly knownBytes = 0; // the zip's own are known
  readonly #place: MemberPlace;
  /** In order of use. */
  readonly #opened = new Map<number, DecodedSource>();

  constructor(place: MemberPlace) {
    this.#place = place;
    this.path = place.archive.name;
    this.storage = place.storage ?? LOCAL_DISK;
  }

  at(record: number): ByteSource | undefined {
    if (!(record < this.#place.columns.sizes.length)) return undefined;
    let source = this.#opened.get(record);
    if (source === undefined) {
      const { blocks, owner } = this.#place;
      const content = this.#contentOf(record);
      source = new DecodedSource(content, blocks, owner, record);
    } else this.#opened.delete(record); // to the end: most recently used
    this.#opened.set(record, source);
    if (this.#opened.size > MOST_KEPT) {
      const [oldest] = this.#opened.keys();
      this.#opened.get(oldest!)!.close();
      this.#opened.delete(oldest!);
    }
    return source;
  }

  close(): void {
    for (const source of this.#opened.values()) source.close();
    this.#opened.clear();
  }

  #contentOf(record: number): EncodedContent {
    const { archive, columns, locals, nameOf } = this.#place;
    const [size, packed] = [columns.sizes[record]!, columns.packed[record]!];
    const isDeflated = columns.methods[record] === Method.DEFLATED;
    const fault = (why: string, cause?: unknown) =>
      memberError(
        "bad-structure",
        archive.name,
        nameOf(record),
        `${why}: it is damaged, or its size lies; fetch the zip again`,
        { offset: columns.headers[record]!, cause },
      );
    const where = function* (): Steps<Deflated> {
      const start = yield* locals.start(record);
      return { source: archive, start, packed, size };
    };
    const { expect, refetch } = archive;
    return {
      name: `${archive.name}: '${nameOf(record)}'`,
      storedIn: archive.name,
      size,
      mtime: archive.mtime,
      isLocal: archive.readAtSync !== undefined,
      *decode(into) {
        const start = yield* locals.start(record);
        const memory = takeMemory(packed);
        const bytes = memory.subarray(0, packed);
        yield* fill(archive, bytes, start);
        const compression = isDeflated ? "deflate" : "zstd";
        yield* decompress(bytes, compression, into, fault);
        giveBack(memory);
      },
      pieces: isDeflated && inflatesPieces()
        ? () => new InflatePieces(where, fault)
        : undefined,
      expect: expect && (() => locals.expect(record)),
      refetch: refetch && (() => {
        const start = columns.headers[record]!;
        const past = locals.starts[record]! || start;
        archive.refetch!(start, past - start + packed);
      }),
    };
  }
}
