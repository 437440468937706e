/** The tars that other programs wrote, and their content by Python's tarfile. */
import { goldenSet } from "../golden.ts";

/** A file or link as `expect.json` describes it. */
export interface ExpectedMember {
  readonly path: string;
  readonly mtime: number;
  readonly size?: number;
  readonly sha256?: string;
  /** Target of a symbolic link. */
  readonly link?: string;
}

/** `expect.json` of one case. */
export interface TarCase {
  readonly name: string;
  /** Path of the tar, or of the directory of shards. */
  readonly path: string;
  readonly content: { readonly entries: readonly ExpectedMember[] };
}

const GOLDENS = goldenSet<TarCase>("tar");

/** Reads one case. */
export const tarCase = GOLDENS.one;

/** Reads all cases. */
export const tarCases = GOLDENS.all;
