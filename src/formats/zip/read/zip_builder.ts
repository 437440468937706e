import { FormatError } from "../../../errors.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { MemberPaths } from "../../../tree/archive/member_paths.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { Method, mostInflated, Size } from "../layout.ts";
import type { ZipIndex } from "./zip_columns.ts";

/** A member, as the central directory has it. */
export interface Member {
  /** Its path in UTF-8, or whatever bytes its writer took for that. */
  readonly path: Uint8Array;
  readonly pathLength: number;
  readonly pathSum: number;
  readonly method: number;
  readonly crc32: number;
  readonly packed: number;
  readonly size: number;
  /** Where the header before its content is, in the file. */
  readonly header: number;
  /** When it was modified, in milliseconds since 1970. */
  readonly time: number;
}

const SLASH = 0x2f;

/** Takes the members of a zip in their order, and makes tables of them; what is told of them has to go together. */
export class ZipBuilder {
  readonly #path: string;
  /** Where the contents end: the central directory begins. */
  readonly #limit: number;
  readonly #tree: MemberPaths;
  readonly #headers = new GrowingNumbers();
  readonly #packed = new GrowingNumbers();
  readonly #sizes = new GrowingNumbers();
  readonly #sums = new GrowingNumbers(2 ** 32);
  readonly #methods = new GrowingNumbers(2 ** 32);
  readonly #pathLengths = new GrowingNumbers(2 ** 32);
  readonly #pathSums = new GrowingNumbers(2 ** 32);
  // Of all members, directories as well: where each starts, and at least ends.
  readonly #starts = new GrowingNumbers();
  readonly #ends = new GrowingNumbers();
  #ascends = true;

  /**
   * @param path The zip, for messages.
   * @param limit Where its contents end.
   */
  constructor(path: string, limit: number) {
    this.#path = path;
    this.#limit = limit;
    this.#tree = new MemberPaths(path, { replaces: false });
  }

  /**
   * Adds a member.
   *
   * @throws {FormatError} If what is told of it can't be, or its path is none.
   */
  add(member: Member): void {
    const { path } = member;
    this.#requirePlace(member);
    if (path[path.length - 1] === SLASH) {
      this.#tree.addDirectory(path, member.time);
    } else {
      const record = this.#headers.length;
      if (this.#tree.addFile(path, record, member.time) > 0) this.#push(member);
    }
  }

  /** Adds a member that is not shown. */
  leaveOut(member: Member, what: string): void {
    this.#requirePlace(member);
    this.#tree.skip(member.path, "device", "device", `is ${what}`);
  }

  /**
   * Makes the tables.
   *
   * @throws {FormatError} If members lie in one another, or there are too many.
   */
  finish(): ZipIndex {
    this.#requireApart();
    const count = this.#headers.length;
    const methods = new Uint8Array(new SharedArrayBuffer(count));
    for (let i = 0; i < count; i++) methods[i] = this.#methods.at(i);
    const columns = {
      ...this.#tree.finish(count),
      headers: this.#headers.finish() as Float64Array,
      packed: this.#packed.finish() as Float64Array,
      sizes: this.#sizes.finish() as Float64Array,
      sums: sharedUint32(this.#sums.finish()),
      methods,
      pathLengths: sharedUint32(this.#pathLengths.finish()),
      pathSums: sharedUint32(this.#pathSums.finish()),
    };
    return { columns, skipped: this.#tree.skipped.facts };
  }

  #push(member: Member): void {
    this.#headers.push(member.header);
    this.#packed.push(member.packed);
    this.#sizes.push(member.size);
    this.#sums.push(member.crc32);
    this.#methods.push(member.method);
    this.#pathLengths.push(member.pathLength);
    this.#pathSums.push(member.pathSum);
  }

  #requirePlace(member: Member): void {
    const { path, header, packed, size, method, pathLength } = member;
    const end = header + Size.LOCAL + pathLength + packed;
    const fault = (why: string, facts: object = {}) =>
      memberError("bad-structure", this.#path, path, why, {
        offset: header,
        ...facts,
      });
    if (!(header >= 0 && end <= this.#limit)) {
      throw fault(
        `has ${packed} bytes from byte ${header} on by the central directory, which begins at byte ${this.#limit}: ` +
          "the zip was cut, or the directory lies; fetch it again",
      );
    }
    if (method === Method.STORED && size !== packed) {
      throw fault(
        `is stored, and has ${size} bytes in ${packed} by the central directory: it lies`,
        { expected: packed, actual: size },
      );
    }
    if (method === Method.DEFLATED && !(size <= mostInflated(packed))) {
      throw fault(
        `has ${size} bytes by the central directory, more than its ${packed} can be inflated to: it lies`,
        { expected: mostInflated(packed), actual: size },
      );
    }
    if (!Number.isSafeInteger(size)) throw fault("has a size that is none");
    const last = this.#starts.length - 1;
    if (last >= 0 && header < this.#ends.at(last)) this.#ascends = false;
    this.#starts.push(header);
    this.#ends.push(end);
  }

  /** Contents that lie in one another are how small zips hold more than any disk. */
  #requireApart(): void {
    if (this.#ascends) return;
    const count = this.#starts.length;
    const order = new Uint32Array(count).map((_, i) => i);
    order.sort((a, b) => this.#starts.at(a) - this.#starts.at(b));
    for (let i = 1; i < count; i++) {
      const [before, start] = [order[i - 1]!, this.#starts.at(order[i]!)];
      if (start >= this.#ends.at(before)) continue;
      throw new FormatError(
        "bad-structure",
        `${this.#path} has members that lie in one another by its central directory, at byte ${start}: ` +
          "it is damaged, or made to fill disks; do not extract it",
        { path: this.#path, offset: start },
      );
    }
  }
}
