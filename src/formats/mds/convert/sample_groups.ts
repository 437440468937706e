import type { TreeEntry } from "../../../convert/from/file_tree.ts";

/** Rule by which files form samples. */
export interface Grouping {
  readonly kind: "directories" | "keys" | "files";
  keyOf(entry: TreeEntry): string;
  fieldOf(entry: TreeEntry): string;
}

/** One sample per numbered directory, as in the file view of samples. */
const DIRECTORIES: Grouping = {
  kind: "directories",
  keyOf: ({ path, name }) =>
    path.slice(0, Math.max(0, path.length - name.length - 1)),
  fieldOf: ({ name }) => name,
};

/** One sample per common name before the first dot, as in WebDataset. */
const KEYS: Grouping = {
  kind: "keys",
  keyOf: ({ path, name }) =>
    path.slice(0, path.length - name.length + firstDot(name)),
  fieldOf: ({ name }) => name.slice(firstDot(name) + 1),
};

/** One sample per file. */
export const FILES: Grouping = {
  kind: "files",
  keyOf: ({ path }) => path,
  fieldOf: () => "",
};

function firstDot(name: string): number {
  const dot = name.indexOf(".", 1);
  return dot < 0 ? name.length : dot;
}

const MOST_FIELDS = 4096;

/** Tests whether all files form samples with the same fields. */
class Uniformity {
  readonly grouping: Grouping;
  readonly #least: number;
  readonly #fits: (entry: TreeEntry) => boolean;
  #isUniform = true;
  #key: string | undefined;
  #fields = new Set<string>();
  #first: ReadonlySet<string> | undefined;
  #samples = 0;

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

  /** Returns the common fields and the number of samples; `undefined` if fields differ. */
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

interface Grouped {
  readonly grouping: Grouping;
  readonly fields: readonly string[];
  readonly samples: number;
  /** Files outside all samples, which are skipped. */
  readonly strays: readonly string[];
  /** If each file is a sample: common suffix of all names, from the last dot. */
  readonly suffix: string | undefined;
}

/** Files grouped into samples, and what is lost. */
export interface GroupedFiles extends Grouped {
  /** Number of empty directories, which samples cannot represent. */
  readonly emptyDirectories: number;
}

/** Maximum number of files next to sample directories, such as descriptions. */
const MOST_STRAYS = 16;

export function isStray({ depth }: TreeEntry): boolean {
  return depth === 1;
}

/** Groups files into samples by their names alone. */
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
  /** Last directory, until an entry in it is found. */
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
