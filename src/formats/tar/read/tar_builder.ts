import { decodeName } from "../../../base/names.ts";
import { treeError } from "../../../tree/archive/member_error.ts";
import { MemberPaths } from "../../../tree/archive/member_paths.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import type {
  MemberKind,
  SkippedMember,
  SkipReason,
} from "../../../tree/format.ts";
import { Fault } from "./faults.ts";
import { makeColumns } from "./make_columns.ts";
import type { SparseMap } from "./sparse_map.ts";
import { SpelledDirectories } from "./spelled_directories.ts";
import { NO_HEAD, type TarIndex } from "./tar_columns.ts";

/** Collects the members of a tar in order, and builds tables of the state after extraction. */
export class TarBuilder {
  readonly paths: MemberPaths;
  /** Per record. */
  readonly offsets = new GrowingNumbers();
  /** Per record; negative for links. */
  readonly sizes = new GrowingNumbers();
  /** Per record: its entry, which a later record may have taken over. */
  readonly entries = new GrowingNumbers(2 ** 32);
  /** Per record: reason why it is unreadable. */
  readonly faults = new GrowingNumbers(2 ** 32);
  /** Per record: hash of the block before its content. */
  readonly heads = new GrowingNumbers(2 ** 32);
  /** By record, for sparse files. */
  readonly maps = new Map<number, SparseMap>();
  /** Per record: its directory in {@linkcode TarBuilder.spelled} plus 1, or 0. */
  readonly directories = new GrowingNumbers(2 ** 32);
  readonly spelled: SpelledDirectories;
  readonly #path: string;

  /**
   * @param path Path of the tar, for messages.
   * @param onSkip Called for each skipped member.
   */
  constructor(path: string, onSkip?: (member: SkippedMember) => void) {
    this.#path = path;
    this.paths = new MemberPaths(path, { replaces: true, onSkip });
    const { entries } = this.paths;
    this.spelled = new SpelledDirectories((bytes, start, end) =>
      entries.intern(bytes, start, end)
    );
  }

  /** Adds a file. It replaces what had its path, except a directory that is not empty. */
  addFile(
    name: Uint8Array,
    offset: number,
    size: number,
    time: number,
    head: number,
    fault: number = Fault.NONE,
  ): void {
    const entry = this.paths.addFile(name, this.entries.length, time);
    if (entry > 0) this.#push(entry, name, offset, size, head, fault);
  }

  /** Adds a sparse file like {@linkcode TarBuilder.addFile}. `stored` is the size of its data. */
  addSparse(
    name: Uint8Array,
    map: SparseMap,
    stored: number,
    time: number,
    head: number,
  ): void {
    const record = this.entries.length;
    const { start, size, isSound } = map;
    const fault = isSound ? Fault.NONE : Fault.SPARSE_MAP;
    const whole = size >= 0 ? size : stored;
    this.addFile(name, start, whole, time, head, fault);
    if (isSound && this.entries.length > record) this.maps.set(record, map);
  }

  /** Adds a directory unless it exists. It replaces a file or link that had its path. */
  addDirectory(name: Uint8Array, time: number): void {
    this.paths.addDirectory(name, time);
  }

  addLink(name: Uint8Array, target: Uint8Array, time: number): void {
    const { paths } = this;
    const record = this.entries.length;
    const entry = paths.addLink(name, target, record, time);
    if (entry === 0) return;
    const { start, end } = paths.linkOf(record)!;
    this.#push(entry, name, start, -1 - (end - start), NO_HEAD, Fault.NONE);
  }

  /** Adds another name of an earlier file. */
  addHardLink(name: Uint8Array, target: Uint8Array): void {
    const { paths } = this;
    const first = target.length > 0 ? paths.find(target) : -1;
    if (first < 0) {
      return this.skip(
        name,
        "hard link",
        "no-target",
        `is a hard link to '${
          decodeName(target)
        }', and no such file comes before it`,
      );
    }
    const [offset, size] = [this.offsets.at(first), this.sizes.at(first)];
    const time = paths.entries.times.at(this.entries.at(first));
    const record = this.entries.length;
    const map = this.maps.get(first);
    const link = paths.linkOf(first);
    const entry = link === undefined
      ? paths.addFile(name, record, time, "hard link")
      : paths.addLink(
        name,
        paths.entries.names.slice(link.start, link.end),
        record,
        time,
      );
    if (entry === 0) return;
    this.#push(
      entry,
      name,
      offset,
      size,
      this.heads.at(first),
      this.faults.at(first),
    );
    if (map !== undefined) this.maps.set(record, map);
  }

  get isEmpty(): boolean {
    const { entries, skipped } = this.paths;
    return entries.length === 1 && skipped.count === 0;
  }

  /** Skips a member, and records that in the index. */
  skip(
    name: Uint8Array,
    kind: MemberKind,
    reason: SkipReason,
    why: string,
  ): void {
    this.paths.skip(name, kind, reason, why);
  }

  finish(): TarIndex {
    try {
      const { paths } = this;
      const targets = paths.resolveLinks();
      const made = makeColumns(this, targets);
      const skipped = paths.skipped.facts;
      return { ...made, warnings: [], skipped, damage: [] };
    } catch (error) {
      throw treeError(this.#path, error);
    }
  }

  #push(
    entry: number,
    name: Uint8Array,
    offset: number,
    size: number,
    head: number,
    fault: number,
  ): void {
    this.entries.push(entry);
    this.offsets.push(offset);
    this.sizes.push(size);
    this.heads.push(head);
    this.faults.push(fault);
    this.directories.push(this.spelled.numberOf(name));
  }
}
