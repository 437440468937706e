/** The tars that others wrote, and what Python's tarfile says is in them. */
import { goldenSet } from "../golden.ts";

/** A file or link as `expect.json` describes it. */
export interface ExpectedMember {
  readonly path: string;
  readonly mtime: number;
  readonly size?: number;
  readonly sha256?: string;
  /** Of a symbolic link, where it leads. */
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

/** One case. */
export const tarCase = GOLDENS.one;

/** All cases. */
export const tarCases = GOLDENS.all;
