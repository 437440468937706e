/** The databases that Python's lmdb wrote, and their content by lmdb. */
import { goldenSet } from "../golden.ts";

/** A value as `expect.json` describes it. */
export interface ExpectedValue {
  /** Name of the value's database; empty for the main one. */
  readonly database: string;
  /** Key in hex. */
  readonly key: string;
  /** Path of the value's file in the tree. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** `expect.json` of one case. */
export interface LmdbCase {
  readonly name: string;
  /** Path of the file or directory. */
  readonly path: string;
  readonly content: { readonly entries: readonly ExpectedValue[] };
}

const GOLDENS = goldenSet<LmdbCase>("lmdb");

/** Reads one case. */
export const lmdbCase = GOLDENS.one;

/** Reads all cases. */
export const lmdbCases = GOLDENS.all;
