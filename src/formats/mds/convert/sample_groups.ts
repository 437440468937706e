import type { TreeEntry } from "../../../convert/from/file_tree.ts";

/** Which files make a sample, and what each is in it. */
export interface Grouping {
  readonly kind: "directories" | "keys" | "files";
  /** The sample that a file is of. */
  keyOf(entry: TreeEntry): string;
  /** Which of its values. */
  fieldOf(entry: TreeEntry): string;
}

/** Each directory that is called by a number, as samples are shown. */
const DIRECTORIES: Grouping = {
  kind: "directories",
  keyOf: ({ path, name }) =>
    path.slice(0, Math.max(0, path.length - name.length - 1)),
  fieldOf: ({ name }) => name,
};

/** Files that have all but their extensions in common, as in WebDataset. */
const KEYS: Grouping = {
  kind: "keys",
  keyOf: ({ path, name }) =>
    path.slice(0, path.length - name.length + firstDot(name)),
  fieldOf: ({ name }) => name.slice(firstDot(name) + 1),
};

/** Each file alone. */
export const FILES: Grouping = {
  kind: "files",
  keyOf: ({ path }) => path,
  fieldOf: () => "",
};

function firstDot(name: string): number {
  const dot = name.indexOf(".", 1);
  return dot < 0 ? name.length : dot;
}

/** Most values of a sample. */
const MOST_FIELDS = 4096;

/** Looks whether all files group to samples which have the same values. */
class Uniformity {
  readonly grouping: Grouping;
  readonly #least: number;
  readonly #fits: (entry: TreeEntry) => boolean;
  #isUniform = true;
  #key: string | undefined;
  #fields = new Set<string>();
  #first: ReadonlySet<string> | undefined;
  #samples = 0;

  /**
   * @param least How many values samples have at least, to be some.
   * @param fits Whether a file can be of one.
   */
  constructor(
    grouping: Grouping,
    least: number,
    fits: (entry: TreeEntry) => boolean,
  ) {
    this.grouping = grouping;
    this.#least = least;
    this.#fits = fits;
  }

  add(entry: TreeEntry): void {
    if (!this.#isUniform) return;
    const key = this.grouping.keyOf(entry);
    if (key !== this.#key) {
      this.#endSample();
      this.#key = key;
      this.#samples++;
    }
    const field = this.grouping.fieldOf(entry);
    const isOne = this.#fits(entry) && !this.#fields.has(field) &&
      this.#fields.size < MOST_FIELDS;
    if (isOne) this.#fields.add(field);
    else this.#isUniform = false;
  }

  /** The values of all samples, and how many there are; `undefined` if they do not have the same. */
  end(): Grouped | undefined {
    this.#endSample();
    const isSome = this.#isUniform && this.#first !== undefined &&
      this.#first.size >= this.#least;
    if (!isSome) return undefined;
    const { grouping } = this;
    const fields = [...this.#first!].sort();
    return {
      grouping,
      fields,
      samples: this.#samples,
      suffix: undefined,
      strays: [],
    };
  }

  #endSample(): void {
    if (this.#key === undefined || !this.#isUniform) return;
    const fields = this.#fields;
    this.#first ??= fields;
    const isSame = fields.size === this.#first.size &&
      [...fields].every((field) => this.#first!.has(field));
    if (!isSame) this.#isUniform = false;
    this.#fields = new Set();
  }
}

/** Files as samples. */
interface Grouped {
  readonly grouping: Grouping;
  readonly fields: readonly string[];
  readonly samples: number;
  /** Files of no sample, which are left out. */
  readonly strays: readonly string[];
  /** Where each file is a sample: what the names of all end in, from the last dot on. */
  readonly suffix: string | undefined;
}

/** Files as samples, and what is beside them. */
export interface GroupedFiles extends Grouped {
  /** How many directories hold nothing, of which no sample can tell. */
  readonly emptyDirectories: number;
}

/** Most files that may lie beside directories of samples, as what describes them. */
const MOST_STRAYS = 16;

/** Whether a file lies beside directories of samples. */
export function isStray({ depth }: TreeEntry): boolean {
  return depth === 1;
}

/** Finds what the samples of files are, by their names alone. */
export async function groupFiles(
  walk: AsyncIterable<TreeEntry>,
): Promise<GroupedFiles> {
  const directories = new Uniformity(
    DIRECTORIES,
    1,
    ({ path, name }) => /^\d+$/.test(path.slice(0, -name.length - 1)),
  );
  const keys = new Uniformity(
    KEYS,
    2,
    ({ name }) => firstDot(name) < name.length,
  );
  const strays: string[] = [];
  const suffixes = new Set<string>();
  let files = 0;
  let emptyDirectories = 0;
  /** The directory that came last, while nothing in it has. */
  let above: TreeEntry | undefined;
  for await (const entry of walk) {
    if (above !== undefined && entry.depth <= above.depth) emptyDirectories++;
    above = entry.isDirectory ? entry : undefined;
    if (entry.isDirectory) continue;
    files++;
    keys.add(entry);
    const isBeside = isStray(entry) && strays.length < MOST_STRAYS;
    if (isBeside) strays.push(entry.name);
    else directories.add(entry);
    if (suffixes.size < 2) {
      suffixes.add(/\.[^.]*$/.exec(entry.name)?.[0].toLowerCase() ?? "");
    }
  }
  if (above !== undefined) emptyDirectories++;
  const inDirectories = directories.end();
  if (inDirectories !== undefined) {
    return { ...inDirectories, strays, emptyDirectories };
  }
  const [suffix = ""] = suffixes;
  const alone = {
    grouping: FILES,
    fields: [""],
    samples: files,
    strays: [],
    suffix: suffixes.size === 1 ? suffix : "",
  };
  return { ...keys.end() ?? alone, emptyDirectories };
}
