import type { FormatError } from "../../base/errors.ts";
import { isRight, readAgain } from "../../io/read/verified_content.ts";
import { RangeSums } from "../../io/checksums/range_sums.ts";
import type {
  CheckOptions,
  CheckReport,
  SkippedMember,
} from "../../tree/format.ts";
import { newExtent } from "../../tree/tree.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import { memberError } from "../../tree/archive/member_error.ts";
import { skippedError } from "../../tree/archive/archive_notes.ts";
import { Size } from "./layout.ts";
import { readDirectory, readPlaces } from "./read/central_directory.ts";
import { Fault } from "./read/faults.ts";
import { openTree } from "./tree/open_zip.ts";
import type { ZipTree } from "./tree/zip_tree.ts";
import { findUnlisted } from "./unlisted_members.ts";

/**
 * Compares every content of a zip with its CRC-32 and size, and each local header with the central directory. Reports
 * members that are skipped, unreadable, overlapping, or missing from the directory.
 *
 * @throws {FormatError} If the central directory is damaged, so that nothing can be checked.
 */
export async function checkZip(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const onSkip = (member: SkippedMember) => run.damage(skippedError(member));
  const opening = openTree(
    location,
    run.storage,
    { onWarning() {} },
    (archive) => readDirectory(archive, onSkip),
  );
  const tree = await run.run(opening);
  try {
    run.total = tree.archive.size;
    await new ZipCheck(tree, run).all();
    return run.report({ samples: tree.columns.headers.length });
  } finally {
    tree.close();
  }
}

/** Bytes per read when a wrong content is read again. */
const PIECE = 8 << 20;

class ZipCheck {
  readonly #tree: ZipTree;
  readonly #run: CheckRun;
  readonly #sums: RangeSums;

  constructor(tree: ZipTree, run: CheckRun) {
    this.#tree = tree;
    this.#run = run;
    this.#sums = new RangeSums(run.signal);
  }

  async all(): Promise<void> {
    const run = this.#run;
    const { headers, packed, faults } = this.#tree.columns;
    const order = new Uint32Array(headers.length).map((_, i) => i)
      .sort((a, b) => headers[a]! - headers[b]!);
    let past = 0;
    try {
      for (const record of order) {
        run.signal?.throwIfAborted();
        const isSound = await run.part(async () => {
          if (faults[record] !== Fault.NONE) throw this.#tree.faultOf(record);
          const start = await this.#startOf(record, past);
          past = start + packed[record]!;
          await this.#compare(record);
        });
        if (!isSound && faults[record] !== Fault.OUTSIDE) {
          const least = headers[record]! + Size.LOCAL + packed[record]!;
          past = Math.max(past, least);
        }
        run.advanceTo(Math.min(past, run.total));
      }
      await this.#findUnlisted();
    } finally {
      await this.#sums.end();
    }
    run.advanceTo(run.total);
  }

  /** Programs that read from the start of a zip also see members outside its directory. */
  async #findUnlisted(): Promise<void> {
    const { archive } = this.#tree;
    const places = await this.#run.run(readPlaces(archive));
    const found = (offset: number, name: string) =>
      this.#run.damage(
        memberError(
          "bad-structure",
          archive.name,
          name,
          "it is not in the central directory, so that only some programs see it. Pack the zip again",
          { offset },
        ),
      );
    await this.#run.run(findUnlisted(archive, places, found));
  }

  /** Returns the start of a content, which must follow the one before it. */
  async #startOf(record: number, past: number): Promise<number> {
    const { columns, locals } = this.#tree;
    const header = columns.headers[record]!;
    const start = await this.#run.run(locals.start(record));
    if (header >= past) return start;
    throw this.#fault(
      "bad-structure",
      record,
      `it overlaps the content before it, which ends at byte ${past}: the ` +
        "zip is damaged, or a zip bomb",
    );
  }

  async #compare(record: number): Promise<void> {
    const extent = newExtent();
    this.#tree.locateRecord(record, extent);
    const { offset, length } = extent;
    const source = this.#tree.sources.at(extent.source)!;
    const ranges = Float64Array.of(offset, length);
    const [sum] = await this.#sums.of({
      source,
      ranges,
      checksumKind: "crc32",
    });
    if (typeof sum !== "number") throw sum;
    if (isRight(extent, sum)) return;
    const into = new Uint8Array(Math.min(length, PIECE));
    const mismatch = (expected: number, actual: number) =>
      this.#fault(
        "sample-checksum",
        record,
        "checksum mismatch (CRC-32): the zip is damaged. Download it again",
        { expected, actual },
      );
    await this.#run.run(readAgain(source, extent, into, mismatch, sum));
  }

  #fault(
    code: FormatError["code"],
    record: number,
    why: string,
    facts: { expected?: unknown; actual?: unknown } = {},
  ): FormatError {
    const { archive, columns } = this.#tree;
    const name = this.#tree.pathOf(record);
    const offset = columns.headers[record]!;
    return memberError(code, archive.name, name, why, { offset, ...facts });
  }
}
