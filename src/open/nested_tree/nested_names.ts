import { RecordfsError } from "../../base/errors.ts";
import { type NamedOption, optionText } from "../../base/named_option.ts";
import { formats } from "../../formats/registry.ts";
import { decompressedName } from "../../io/compressed/compressions.ts";
import { SHARD } from "../../io/storage/shards/shard_names.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { DirectoryListing } from "../../tree/directory_tree.ts";
import type { Probe } from "../../tree/format.ts";

/** Options of nested containers, as `open` takes them. */
export interface NestedOptions {
  /** Suffixes of nested containers, with or without their dots; otherwise the usual ones. */
  readonly nested?: boolean | readonly string[] | undefined;
  /** Whether they appear without their suffixes. */
  readonly stripSuffix?: boolean | undefined;
  /** Listing by another thread of the directory that is opened. */
  readonly listing?: DirectoryListing | undefined;
}

/** Which names are those of nested containers. Survives `postMessage`. */
export interface NestedNames {
  /** In lower case, with their dots. */
  readonly suffixes: readonly string[];
  readonly strips: boolean;
}

const NESTED: NamedOption = { name: "nested" };

/** Whether a text is a suffix of file names, with or without its dot. */
export function isNestedSuffix(text: string): boolean {
  return /^\.?[\w-]+(\.[\w-]+)*$/.test(text) && text.length < 64;
}

/** @throws {RecordfsError} If a suffix is none (`bad-option`). */
export function nestedNames(
  { nested, stripSuffix = false }: NestedOptions,
): NestedNames {
  const usual = formats()
    .flatMap(({ nestedSuffixes = [] }) => nestedSuffixes);
  const given = typeof nested === "object" ? nested : usual;
  const suffixes = given.map((suffix) => {
    if (isNestedSuffix(suffix)) {
      return suffix.replace(/^(?!\.)/, ".").toLowerCase();
    }
    throw new RecordfsError(
      "bad-option",
      `Cannot show nested containers: '${suffix}' is not a suffix of file names. Give ${
        optionText(NESTED)
      } suffixes such as ${usual.join(", ")}`,
      { namedOptions: [NESTED] },
    );
  });
  return { suffixes, strips: stripSuffix };
}

/** Returns the length of the suffix by which a file is a nested container, with that of a compression; 0 if it is none. */
export function suffixLength(
  name: string,
  { suffixes }: Pick<NestedNames, "suffixes">,
): number {
  const isNamed = (name: string, suffix: string) =>
    name.length > suffix.length &&
    name.slice(-suffix.length).toLowerCase() === suffix;
  const own = suffixes.find((suffix) => isNamed(name, suffix));
  if (own !== undefined) return own.length;
  const plain = decompressedName(name);
  if (plain === name) return 0;
  const inner = suffixes.find((suffix) => isNamed(plain, suffix));
  return inner === undefined ? 0 : name.length - plain.length + inner.length;
}

/** Whether a directory is one container, by names alone: a dataset of a format, or exactly one complete set of shards. */
export function* isDataset(
  names: readonly string[],
  namesIn: Probe["namesIn"],
  rules: NestedNames,
): Steps<boolean> {
  if (names.length === 0) return false;
  for (const format of formats()) {
    const steps = format.isDataset?.(names, namesIn);
    if (steps !== undefined && (yield* steps)) return true;
  }
  return areOneSet(names, rules);
}

/** Whether names are those of all shards of one set, such as `a-00000-of-00002.tfrecord`, and of nothing else. */
function areOneSet(names: readonly string[], rules: NestedNames): boolean {
  const [, prefix, , count, suffix] = SHARD.exec(names[0]!) ?? [];
  if (suffix === undefined || suffixLength(names[0]!, rules) === 0) {
    return false;
  }
  return Number(count) === names.length && names.every((name) => {
    const shard = SHARD.exec(name);
    return shard !== null && shard[1] === prefix && shard[3] === count &&
      shard[4] === suffix && Number(shard[2]) < names.length;
  });
}
