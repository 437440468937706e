import { FormatError } from "../../src/base/errors.ts";
import { isRight } from "../../src/io/read/verified_content.ts";
import type { ChecksumKind } from "../../src/io/checksums/checksum.ts";
import type { Extent, NodeId } from "../../src/tree/tree.ts";
import type { CheckedNodes } from "./checked_nodes.ts";
import { Errno } from "../wire/errno.ts";
import { MAX_TRANSFER } from "../limits.ts";
import type { SampleClaims } from "./sample_claims.ts";
import type { ServedSource, ServedSources } from "../content/served_sources.ts";
import type { Reply } from "../wire/reply.ts";

export interface WaitingRead {
  readonly uniqueLow: number;
  readonly uniqueHigh: number;
  readonly offset: number;
  readonly length: number;
}

export interface LargeChecksParts {
  readonly sources: ServedSources;
  readonly nodes: CheckedNodes;
  /** Nodes whose checksum did not match. */
  readonly wrong: CheckedNodes;
  readonly claims: SampleClaims;
  /** Computes the checksum of a byte range of a source, continuing from the checksum `before`. */
  readonly checksum: (
    source: ServedSource,
    offset: number,
    length: number,
    kind: ChecksumKind | undefined,
    before: number,
  ) => number;
  readonly mismatch: (
    source: ServedSource,
    node: NodeId,
    expected: number,
    actual: number,
  ) => FormatError;
}

/** Check of one file, with the reads that wait for it. */
interface Check {
  readonly node: NodeId;
  readonly extent: Extent;
  readonly waiting: WaitingRead[];
  /** Whether this thread runs the check; otherwise another one does. */
  isOurs: boolean;
  /** Bytes checked so far; `crc` is their checksum. */
  done: number;
  crc: number;
  /** Generation of `nodes` when the check began. */
  generation: number;
  verdict: "right" | "wrong" | undefined;
}

/** Bytes checked at a time; other requests are answered in between. */
const PIECE = MAX_TRANSFER;

/**
 * Checks of samples that are too large to check within one request. One thread checks each sample, piece
 * by piece between its other requests, alternating between samples. Reads are answered only once the
 * whole sample has been verified, so that no wrong byte is ever sent.
 */
export class LargeChecks {
  readonly #parts: LargeChecksParts;
  /** Round-robin queue: the next check to work on comes first. */
  readonly #checks: Check[] = [];

  constructor(parts: LargeChecksParts) {
    this.#parts = parts;
  }

  /** Whether reads wait for this thread to answer them. */
  get isBusy(): boolean {
    return this.#checks.length > 0;
  }

  /** Whether this thread has nothing to check itself and only waits for other threads. */
  get isIdle(): boolean {
    return this.#checks.every(({ isOurs }) => !isOurs);
  }

  isWrong(node: NodeId): boolean {
    return this.#parts.wrong.has(node);
  }

  /** Queues a read until its file has been verified. */
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

  /** Checks the next piece of one file, and polls the checks of other threads. Throws errors for the log. */
  work(): void {
    for (const check of this.#checks) this.#look(check);
    const at = this.#checks.findIndex((check) =>
      check.isOurs && check.verdict === undefined
    );
    if (at < 0) return;
    const [check] = this.#checks.splice(at, 1) as [Check];
    this.#checks.push(check); // round robin
    try {
      this.#checkPiece(check);
    } catch (error) {
      this.#end(check, "wrong");
      throw error;
    }
  }

  /** Writes the reply to one read whose file has been checked. Returns whether there was one. */
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

  /** Releases this thread's claims, so that other threads take over its unfinished checks. */
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

  /** Looks up the result of another thread's check, or takes the check over if that thread released it. */
  #look(check: Check): void {
    if (check.isOurs || check.verdict !== undefined) return;
    const { nodes, claims } = this.#parts;
    if (nodes.has(check.node)) check.verdict = "right";
    else if (this.isWrong(check.node)) check.verdict = "wrong";
    else if (!claims.has(check.node)) this.#begin(check); // that thread could not read it
  }

  #checkPiece(check: Check): void {
    const { sources, nodes, wrong, claims, checksum, mismatch } = this.#parts;
    const { node, extent } = check;
    const source = sources.at(extent.source)!; // exists: the caller of add() looked it up
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
        `Cannot read ${source.name}: it was changed while its checksum was verified. Read it again`,
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
