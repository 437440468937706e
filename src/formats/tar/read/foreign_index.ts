import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { padded, TAR_BLOCK } from "../../../base/tar_header.ts";
import { areDamaged, skippedOf } from "../../../tree/archive/foreign_facts.ts";
import { areSound } from "../../../tree/archive/sound_columns.ts";
import { LONGEST_GAP } from "./dali_index.ts";
import type { GroupFacts } from "./sample_groups.ts";
import type { TarColumns, TarIndex } from "./tar_columns.ts";

/**
 * Whether the header of each content can be found without other tables, and compared: contents follow one another, with
 * little but headers in between. It cannot where there are links, holes, or contents that later members replace.
 */
export function isFollowable(
  { offsets, sizes, links, holes }: TarColumns,
): boolean {
  let end = 0;
  return links.length === 0 && holes.records.length === 0 &&
    offsets.every((offset, record) => {
      const gap = offset - end;
      end = offset + padded(sizes[record]!);
      return gap >= TAR_BLOCK && gap <= LONGEST_GAP && gap % TAR_BLOCK === 0 &&
        sizes[record]! >= 0 && Number.isSafeInteger(end);
    });
}

/** Returns the index of tables that anybody may have made; `undefined` if they are not those of a tar. */
export function foreignIndex(
  source: ByteSource,
  columns: TarColumns,
  data: unknown,
): TarIndex | undefined {
  const { groups, warnings, skipped, damage } = data as Partial<TarIndex>;
  const { heads, offsets, sizes } = columns;
  const known = skippedOf(skipped, source.name);
  const isSound = heads instanceof Uint32Array &&
    offsets instanceof Float64Array && sizes instanceof Float64Array &&
    heads.length === offsets.length && sizes.length === offsets.length &&
    areSound(columns, offsets.length) && isFollowable(columns) &&
    areSamples(columns) && areGroups(groups) && Array.isArray(warnings) &&
    warnings.every((warning) => typeof warning === "string") &&
    areDamaged(damage);
  return isSound && known !== undefined
    ? { columns, groups, warnings, skipped: known, damage, isForeign: true }
    : undefined;
}

function areSamples(
  {
    nodes,
    names,
    sampleRecords,
    sampleStarts,
    sampleDirectories,
    spelledDirectories,
  }: TarColumns,
): boolean {
  const areColumns = [
    sampleRecords,
    sampleStarts,
    sampleDirectories,
    spelledDirectories,
  ].every((column) => column instanceof Uint32Array);
  if (!areColumns) return false;
  const samples = sampleStarts.length - 1;
  const spelled = spelledDirectories.length / 2;
  return sampleStarts[0] === 0 &&
    sampleStarts[samples] === sampleRecords.length &&
    sampleStarts.every((start, i) => i === 0 || start > sampleStarts[i - 1]!) &&
    sampleRecords.every((record) => nodes[record]! > 0) &&
    (sampleDirectories.length === 0 || sampleDirectories.length === samples) &&
    Number.isInteger(spelled) &&
    sampleDirectories.every((directory) => directory <= spelled) &&
    spelledDirectories.every((end, i) =>
      end <= names.names.length &&
      (i % 2 === 0 || end >= spelledDirectories[i - 1]!)
    );
}

function areGroups(value: unknown): value is GroupFacts {
  const groups = (value ?? {}) as Partial<GroupFacts>;
  const { counted, joined, apart, firstApart, extensions } = groups;
  return [counted, joined, apart].every(Number.isSafeInteger) &&
    (firstApart === undefined || typeof firstApart === "string") &&
    Array.isArray(extensions) &&
    extensions.every((one) =>
      Array.isArray(one) && typeof one[0] === "string" &&
      Number.isSafeInteger(one[1])
    );
}
