// deno-lint-ignore-file camelcase -- the keys of expect.json
/** The files that the original Python library wrote, and their `expect.json`. */
import { createHash } from "node:crypto";
import { fromFileUrl } from "./paths.ts";

const ROOT = fromFileUrl(new URL("../golden/", import.meta.url));

/** A sample or packed file as `expect.json` describes it. */
export interface ExpectedSample {
  readonly index: number;
  readonly size: number;
  readonly sha256: string;
  readonly crc32: number;
  /** Set where reading it must fail. */
  readonly error?: string;
}

/** An entry of a packed folder. */
export interface ExpectedEntry {
  readonly path: string;
  readonly type: "file" | "dir";
  readonly index: number;
  readonly size: number;
  readonly sha256: string;
  /** The path's bytes in hex, if it is not UTF-8. */
  readonly path_bytes?: string;
}

/** `expect.json` of one case. */
export interface GoldenCase {
  readonly name: string;
  /** Path of the file or directory. */
  readonly path: string;
  readonly kind: "ffr" | "packed";
  readonly title: string;
  readonly valid: boolean;
  readonly expected: {
    readonly outcome: "error" | "partial" | "error-or-partial" | "error-or-ok";
    readonly stage: string;
    readonly class: string;
  };
  readonly content: {
    readonly n: number;
    readonly num_files: number;
    readonly files: readonly {
      readonly name: string;
      readonly n: number;
      readonly size: number;
      readonly checksums: readonly number[];
      readonly offsets: readonly number[];
    }[];
    readonly samples: readonly ExpectedSample[];
    readonly entries: readonly ExpectedEntry[];
  };
  readonly queries: {
    readonly paths: readonly {
      readonly path: string;
      readonly exists: boolean;
      readonly is_file: boolean;
      readonly is_dir: boolean;
    }[];
    readonly lists: readonly {
      readonly path: string | null;
      readonly list_file: boolean;
      readonly list_dir: boolean;
      readonly recursive: boolean;
      readonly result: readonly string[];
    }[];
  };
}

/** The cases of a set in `test/golden`. */
export interface GoldenSet<T> {
  /** Reads one case, by its name. */
  one(name: string): T;
  /** Reads all cases, in the order of their names. */
  all(): T[];
}

/**
 * Reads the cases of a set: the content of `expect.json`, the case's name, and the path of its container.
 *
 * @param revive Reviver for values that JSON cannot represent.
 */
export function goldenSet<T extends { readonly path: string }>(
  set: string,
  revive?: (key: string, value: unknown) => unknown,
): GoldenSet<T> {
  const one = (name: string): T => {
    const dir = `${ROOT}${set}/${name}`;
    const text = Deno.readTextFileSync(`${dir}/expect.json`);
    const { target, ...expect } = JSON.parse(text, revive);
    return { ...expect, name, path: `${dir}/${target}` };
  };
  const names = () => [...Deno.readDirSync(ROOT + set)].map(({ name }) => name);
  return { one, all: () => names().sort().map(one) };
}

/** Returns all cases of a format, in the order of their names. */
export function goldenCases(format: string): GoldenCase[] {
  return goldenSet<GoldenCase>(format).all()
    .map((golden) => ({ ...golden, name: `${format}/${golden.name}` }));
}

/** Reads one case, such as `ffrecord/packed_tree`. */
export function goldenCase(name: string): GoldenCase {
  const [set, one] = name.split("/") as [string, string];
  return { ...goldenSet<GoldenCase>(set).one(one), name };
}

/** Returns the SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
