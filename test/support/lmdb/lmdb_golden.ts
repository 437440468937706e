/** The databases that Python's lmdb wrote, and what it says is in them. */
import { goldenSet } from "../golden.ts";

/** A value as `expect.json` describes it. */
export interface ExpectedValue {
  /** Name of its database; empty for the main one. */
  readonly database: string;
  /** Its key in hex. */
  readonly key: string;
  /** Path of its file. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** `expect.json` of one case. */
export interface LmdbCase {
  readonly name: string;
  /** Path of the file, or of the directory. */
  readonly path: string;
  readonly content: { readonly entries: readonly ExpectedValue[] };
}

const GOLDENS = goldenSet<LmdbCase>("lmdb");

/** One case. */
export const lmdbCase = GOLDENS.one;

/** All cases. */
export const lmdbCases = GOLDENS.all;
