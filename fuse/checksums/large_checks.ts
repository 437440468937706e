import { FormatError } from "../../src/base/errors.ts";
import { isRight } from "../../src/io/read/verified_content.ts";
import type { ChecksumKind } from "../../src/io/sums/checksum.ts";
import type { Extent, NodeId } from "../../src/tree/tree.ts";
import type { CheckedNodes } from "./checked_nodes.ts";
import { Errno } from "../wire/errno.ts";
import { MAX_TRANSFER } from "../limits.ts";
import type { SampleClaims } from "./sample_claims.ts";
import type { ServedSource, ServedSources } from "../content/served_sources.ts";
import type { Reply } from "../wire/reply.ts";

/** A READ that waits for a check. */
export interface WaitingRead {
  readonly uniqueLow: number;
  readonly uniqueHigh: number;
  /** Where it starts in the file. */
  readonly offset: number;
  readonly length: number;
}

/** Parts of {@linkcode LargeChecks}. */
export interface LargeChecksParts {
  readonly sources: ServedSources;
  readonly nodes: CheckedNodes;
  /** Those that did not match. */
  readonly wrong: CheckedNodes;
  readonly claims: SampleClaims;
  /** Computes the checksum of bytes of a source, continuing from that of the bytes before them. */
  readonly checksum: (
    source: ServedSource,
    offset: number,
    length: number,
    kind: ChecksumKind | undefined,
    before: number,
  ) => number;
  /** The error for a file that does not match its checksum. */
  readonly mismatch: (
    source: ServedSource,
    node: NodeId,
    expected: number,
    actual: number,
  ) => FormatError;
}

/** A file that reads wait for. */
interface Check {
  readonly node: NodeId;
  readonly extent: Extent;
  readonly waiting: WaitingRead[];
  /** True if this thread checks it. */
  isOurs: boolean;
  /** Progress of the check, in bytes, and their checksum. */
  done: number;
  crc: number;
  /** Of the nodes that are known, when this was begun. */
  generation: number;
  /** Its end. */
  verdict: "right" | "wrong" | undefined;
}

/** Bytes that are checked at a time: others are answered in between. */
const PIECE = MAX_TRANSFER;

/**
 * Samples that are too large to be checked while others wait. One thread checks each, piece by piece
 * between its other requests, by turns where there are several; the reads of it are answered when
 * all of it is known to be right, so that no wrong byte is ever sent.
 */
export class LargeChecks {
  readonly #parts: LargeChecksParts;
  /** The next one to work at first. */
  readonly #checks: Check[] = [];

  constructor(parts: LargeChecksParts) {
    this.#parts = parts;
  }

  /** True if reads wait for this thread to answer them. */
  get isBusy(): boolean {
    return this.#checks.length > 0;
  }

  /** True if all that this thread can do is to wait for others. */
  get isIdle(): boolean {
    return this.#checks.every(({ isOurs }) => !isOurs);
  }

  /** Tells whether a file has been found not to match its checksum, as its first readers were told. */
  isWrong(node: NodeId): boolean {
    return this.#parts.wrong.has(node);
  }

  /** Has a read wait until its file is known to be right. */
  add(node: NodeId, extent: Extent, read: WaitingRead): void {
    const known = this.#checks.find((check) =>
      check.node === node && check.verdict === undefined
    );
    if (known !== undefined) {
      known.waiting.push(read);
      return;
    }
    const check: Check = {
      node,
      extent: { ...extent },
      waiting: [read],
      isOurs: false,
      done: 0,
      crc: 0,
      generation: -1,
      verdict: undefined,
    };
    this.#checks.push(check);
    if (!this.#parts.claims.has(node)) this.#begin(check);
  }

  /**
   * Checks a piece of one file, and sees whether other threads are done with theirs.
   *
   * @throws {Error} If a file is found to be wrong, or can't be read: for the log.
   */
  work(): void {
    for (const check of this.#checks) this.#look(check);
    const at = this.#checks.findIndex((check) =>
      check.isOurs && check.verdict === undefined
    );
    if (at < 0) return;
    const [check] = this.#checks.splice(at, 1) as [Check];
    this.#checks.push(check); // the others first, next time
    try {
      this.#checkPiece(check);
    } catch (error) {
      this.#end(check, "wrong");
      throw error;
    }
  }

  /**
   * Makes the reply to a read whose file has been checked.
   *
   * @returns Whether there was one.
   */
  takeAnswer(reply: Reply): boolean {
    const at = this.#checks.findIndex(({ verdict }) => verdict !== undefined);
    if (at < 0) return false;
    const { waiting, extent, verdict } = this.#checks[at]!;
    const { uniqueLow, uniqueHigh, offset, length } = waiting.pop()!;
    if (waiting.length === 0) this.#checks.splice(at, 1);
    reply.begin(uniqueLow, uniqueHigh);
    if (verdict === "right") {
      reply.payload(extent.source, extent.offset + offset, length);
    } else {
      reply.fail(Errno.EIO);
    }
    reply.seal();
    return true;
  }

  /** Has other threads check what this one does not come to. */
  close(): void {
    for (const check of this.#checks) this.#end(check, "wrong");
  }

  #begin(check: Check): void {
    this.#parts.claims.take(check.node);
    check.isOurs = true;
    check.done = 0;
    check.crc = 0;
    check.generation = this.#parts.nodes.generation;
  }

  /** Sees what has become of a file that another thread checks. */
  #look(check: Check): void {
    if (check.isOurs || check.verdict !== undefined) return;
    const { nodes, claims } = this.#parts;
    if (nodes.has(check.node)) check.verdict = "right";
    else if (this.isWrong(check.node)) check.verdict = "wrong";
    else if (!claims.has(check.node)) this.#begin(check); // it could not be read there
  }

  #checkPiece(check: Check): void {
    const { sources, nodes, wrong, claims, checksum, mismatch } = this.#parts;
    const { node, extent } = check;
    const source = sources.at(extent.source)!; // whoever added it found it there
    const length = Math.min(PIECE, extent.length - check.done);
    const offset = extent.offset + check.done;
    const { checksumKind } = extent;
    check.crc = checksum(source, offset, length, checksumKind, check.crc);
    check.done += length;
    claims.beat(node);
    if (check.done < extent.length) return;
    if (!isRight(extent, check.crc)) {
      wrong.add(node, wrong.generation);
      throw mismatch(source, node, extent.checksum, check.crc);
    }
    if (source.file?.hasChanged() || nodes.generation !== check.generation) {
      throw new FormatError(
        "changed",
        `${source.name} was changed while it was compared with a checksum; read it again`,
        { path: source.name },
      );
    }
    nodes.add(node, check.generation);
    this.#end(check, "right");
  }

  #end(check: Check, verdict: "right" | "wrong"): void {
    check.verdict = verdict;
    if (check.isOurs) this.#parts.claims.free(check.node);
    check.isOurs = false;
  }
}
