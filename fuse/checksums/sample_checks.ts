import type { FormatError } from "../../src/base/errors.ts";
import { isRight } from "../../src/io/read/verified_content.ts";
import {
  type ChecksumKind,
  checksumOf,
} from "../../src/io/checksums/checksum.ts";
import {
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  type Tree,
} from "../../src/tree/tree.ts";
import { CheckedNodes } from "./checked_nodes.ts";
import { CopyBytes } from "../content/copy_bytes.ts";
import { Errno } from "../wire/errno.ts";
import { LargeChecks } from "./large_checks.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { checksumMismatch } from "./checksum_mismatch.ts";
import type { SampleChecksMemory } from "./sample_checks_memory.ts";
import { SampleClaims } from "./sample_claims.ts";
import type { ServedSource, ServedSources } from "../content/served_sources.ts";
import { type Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";

/** Verifies the checksum of a sample on its first read, so that no wrong byte leaves the mount. */
export class SampleChecks {
  readonly large: LargeChecks;
  readonly #tree: Tree;
  readonly #sources: ServedSources;
  readonly #extent = newExtent();
  readonly #nodes: CheckedNodes;
  readonly #copy: CopyBytes;
  #copied: Uint8Array;

  /** @param reply Reply to READ; its buffer doubles as the buffer for checks. */
  constructor(
    tree: Tree,
    sources: ServedSources,
    memory: SampleChecksMemory,
    reply: Reply,
  ) {
    this.#tree = tree;
    this.#sources = sources;
    this.#nodes = new CheckedNodes(memory.nodes);
    const body = reply.bytes.subarray(REPLY_HEADER_SIZE);
    this.#copy = new CopyBytes(body as Uint8Array<ArrayBuffer>);
    this.#copied = body;
    this.large = new LargeChecks({
      sources,
      nodes: this.#nodes,
      wrong: new CheckedNodes(memory.wrong),
      claims: new SampleClaims(memory.claims),
      checksum: (source, offset, length, kind, before) =>
        this.#checksum(source, offset, length, kind, before),
      mismatch: (source, node, expected, actual) =>
        this.#mismatch(source, node, expected, actual),
    });
  }

  /** Whether a file has been verified and is unchanged, so that its bytes may be sent directly. */
  isKnown(node: NodeId, source: ServedSource): boolean {
    return this.#nodes.has(node) && source.file?.hasChanged() !== true;
  }

  /**
   * Answers a READ of an unverified file. Small files are answered now, from the very bytes that were
   * checked. Files larger than `MAX_TRANSFER` are answered later by {@linkcode large}.
   *
   * @param offset Offset of the read in the file.
   * @throws {FormatError} If the file does not match its checksum or cannot be read.
   */
  answer(
    { node, uniqueLow, uniqueHigh }: Request,
    reply: Reply,
    source: ServedSource,
    extent: Extent,
    offset: number,
    length: number,
  ): void {
    if (extent.length > MAX_TRANSFER) {
      const isWrong = this.large.isWrong(node) &&
        source.file?.hasChanged() !== true;
      if (isWrong) return reply.fail(Errno.EIO); // already logged
      this.large.add(node, extent, { uniqueLow, uniqueHigh, offset, length });
      return reply.none();
    }
    if (this.answerIfRight(node, reply, source, extent, offset, length)) return;
    const crc = this.#whole(source, extent);
    throw this.#mismatch(source, node, extent.checksum, crc);
  }

  /**
   * Answers a READ of a file of at most `MAX_TRANSFER` bytes from the bytes that were checked. Returns false, without a
   * reply, if they do not match their checksum. Throws if the file cannot be read.
   */
  answerIfRight(
    node: NodeId,
    reply: Reply,
    source: ServedSource,
    extent: Extent,
    offset: number,
    length: number,
  ): boolean {
    const { generation } = this.#nodes;
    const isAll = length === extent.length;
    const crc = this.#whole(source, extent, isAll);
    if (!isRight(extent, crc)) return false;
    this.#nodes.add(node, generation);
    if (offset > 0) {
      const start = REPLY_HEADER_SIZE + offset;
      reply.bytes.copyWithin(REPLY_HEADER_SIZE, start, start + length);
    }
    reply.body(length);
    return true;
  }

  /**
   * Throws if an empty file's checksum is not that of zero bytes. The kernel never reads an empty file, so this error
   * must be returned when its attributes are requested.
   */
  checkEmpty(node: NodeId, { size, isDirectory, isLink }: NodeStat): void {
    if (size > 0 || isDirectory || isLink) return;
    const extent = this.#extent;
    if (!this.#tree.locate(node, extent)) return;
    const source = this.#sources.at(extent.source);
    if (source === undefined || isRight(extent, 0)) return;
    throw this.#mismatch(source, node, extent.checksum, 0);
  }

  #whole(
    source: ServedSource,
    { offset, length, checksumKind }: Extent,
    isSent = false,
  ): number {
    return this.#checksum(source, offset, length, checksumKind, 0, isSent);
  }

  #checksum(
    source: ServedSource,
    offset: number,
    length: number,
    kind: ChecksumKind | undefined,
    before: number,
    isSent = false,
  ): number {
    this.#copy.copy(source, offset, length, isSent);
    // Samples often have equal lengths: reusing the view then avoids an allocation.
    if (this.#copied.length !== length) {
      this.#copied = this.#copy.into.subarray(0, length);
    }
    return kind === undefined ? 0 : checksumOf(kind)(this.#copied, before);
  }

  #mismatch(
    { name, file }: ServedSource,
    node: NodeId,
    expected: number,
    actual: number,
  ): FormatError {
    file?.hasChanged(); // logs the change first
    const sample = this.#tree.sampleOf?.(node) ?? -1;
    return checksumMismatch(name, sample, expected, actual);
  }
}
