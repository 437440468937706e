import { MemberPaths } from "../../../tree/archive/member_paths.ts";
import type { SkippedMember } from "../../../tree/format.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { Size } from "../layout.ts";
import { type ContentFacts, Fault, faultOf } from "./faults.ts";
import type { ZipIndex } from "./zip_columns.ts";

/** A member in the central directory. */
export interface Member extends ContentFacts {
  /** Path in UTF-8, or in whatever bytes its writer used. */
  readonly path: Uint8Array;
  readonly pathLength: number;
  readonly pathSum: number;
  readonly crc32: number;
  /** Modification time in milliseconds since 1970. */
  readonly time: number;
}

/** Locations of members, including directories and skipped ones, by start. */
export interface MemberPlaces {
  readonly starts: Float64Array;
  /** Minimum end of each, without the name and extra fields of its local header. */
  readonly ends: Float64Array;
  /** End of the contents: the start of the central directory. */
  readonly limit: number;
}

/** Takes the members of a zip in order, and makes tables of them. */
export class ZipBuilder {
  readonly #limit: number;
  readonly #paths: MemberPaths;
  readonly #headers = new GrowingNumbers();
  readonly #packed = new GrowingNumbers();
  readonly #sizes = new GrowingNumbers();
  readonly #sums = new GrowingNumbers(2 ** 32);
  readonly #methods = new GrowingNumbers(2 ** 32);
  readonly #faults = new GrowingNumbers(2 ** 32);
  readonly #pathLengths = new GrowingNumbers(2 ** 32);
  readonly #pathSums = new GrowingNumbers(2 ** 32);
  // Minimum location of each member that has one, including directories, and its record + 1.
  readonly #starts = new GrowingNumbers();
  readonly #ends = new GrowingNumbers();
  readonly #records = new GrowingNumbers(2 ** 32);
  #ascends = true;
  /** Members by start, if they are not in ascending order. */
  #order: Uint32Array | undefined;

  /** @param limit End of the contents: the start of the central directory. */
  constructor(
    path: string,
    limit: number,
    onSkip?: (member: SkippedMember) => void,
  ) {
    this.#limit = limit;
    this.#paths = new MemberPaths(path, { replaces: false, onSkip });
  }

  /** Whether a content can be read, as far as the central directory shows. */
  isReadable(member: Member): boolean {
    return faultOf(member, this.#limit) === Fault.NONE;
  }

  addDirectory(member: Member): void {
    this.#paths.addDirectory(member.path, member.time);
    this.#place(member, -1);
  }

  /** Adds a file; `fault` may be one that the directory does not show. */
  addFile(member: Member, fault: number = faultOf(member, this.#limit)): void {
    const record = this.#headers.length;
    const entry = this.#paths.addFile(member.path, record, member.time);
    this.#push(entry, member, fault);
  }

  addLink(member: Member, target: Uint8Array): void {
    const record = this.#headers.length;
    const { path, time } = member;
    const entry = this.#paths.addLink(path, target, record, time);
    this.#push(entry, member, Fault.NONE);
  }

  /**
   * Sorts the locations of all members, after the last was added. Overlapping contents let small zips hold more than
   * any disk (zip bombs), so none of them is read.
   */
  arrange(): void {
    if (this.#ascends) return;
    const count = this.#starts.length;
    const order = this.#order = new Uint32Array(count).map((_, i) => i);
    order.sort((a, b) => this.#starts.at(a) - this.#starts.at(b));
    let farthest = order[0]!;
    for (let i = 1; i < count; i++) {
      const place = order[i]!;
      if (this.#starts.at(place) < this.#ends.at(farthest)) {
        this.#markOverlap(place);
        this.#markOverlap(farthest);
      }
      if (this.#ends.at(place) > this.#ends.at(farthest)) farthest = place;
    }
  }

  /** Makes the tables; throws FormatError if there are too many members. */
  finish(): ZipIndex {
    const count = this.#headers.length;
    const faults = new Uint8Array(new SharedArrayBuffer(count));
    for (let i = 0; i < count; i++) faults[i] = this.#faults.at(i);
    const columns = {
      ...this.#paths.finish(count),
      headers: this.#headers.finish() as Float64Array,
      packed: this.#packed.finish() as Float64Array,
      sizes: this.#sizes.finish() as Float64Array,
      sums: sharedUint32(this.#sums.finish()),
      methods: sharedUint32(this.#methods.finish()),
      faults,
      pathLengths: sharedUint32(this.#pathLengths.finish()),
      pathSums: sharedUint32(this.#pathSums.finish()),
    };
    return { columns, skipped: this.#paths.skipped.facts };
  }

  /** Adds a file or link, unless it is skipped. */
  #push(entry: number, member: Member, fault: number): void {
    const isSkipped = entry === 0;
    this.#place(member, isSkipped ? -1 : this.#headers.length);
    if (isSkipped) return;
    const isSized = fault !== Fault.NO_SIZE;
    this.#headers.push(member.header);
    this.#packed.push(isSized ? member.packed : 0);
    this.#sizes.push(isSized ? member.size : 0);
    this.#sums.push(member.crc32);
    this.#methods.push(member.method);
    this.#faults.push(fault);
    this.#pathLengths.push(member.pathLength);
    this.#pathSums.push(member.pathSum);
  }

  #place({ header, packed }: Member, record: number): void {
    const end = header + Size.LOCAL + packed;
    if (!(header >= 0 && end <= this.#limit)) return; // nothing of it is read
    const last = this.#starts.length - 1;
    if (last >= 0 && header < this.#ends.at(last)) this.#ascends = false;
    this.#starts.push(header);
    this.#ends.push(end);
    this.#records.push(record + 1);
  }

  #markOverlap(place: number): void {
    const record = this.#records.at(place) - 1;
    if (record >= 0 && this.#faults.at(record) === Fault.NONE) {
      this.#faults.set(record, Fault.OVERLAPS);
    }
  }

  places(): MemberPlaces {
    const inOrder = (numbers: GrowingNumbers) =>
      Float64Array.from(
        { length: numbers.length },
        (_, i) => numbers.at(this.#order === undefined ? i : this.#order[i]!),
      );
    const [starts, ends] = [this.#starts, this.#ends].map(inOrder);
    return { starts: starts!, ends: ends!, limit: this.#limit };
  }

  /** Returns the last member that starts at or before a position, with its minimum end. */
  memberAt(place: number): { start: number; end: number } | undefined {
    const member = (i: number) =>
      this.#order === undefined ? i : this.#order[i]!;
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = low + high >> 1;
      if (this.#starts.at(member(middle)) <= place) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    const found = member(low - 1);
    return { start: this.#starts.at(found), end: this.#ends.at(found) };
  }
}
