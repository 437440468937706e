/** The zips that others wrote, and what Python's zipfile says is in them. */
import { goldenSet } from "../golden.ts";

/** A file as `expect.json` describes it. */
export interface ExpectedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Whether it lies in the zip as it is. */
  readonly stored: boolean;
}

/** `expect.json` of one case. */
export interface ZipCase {
  readonly name: string;
  /** Path of the zip. */
  readonly path: string;
  readonly content: { readonly entries: readonly ExpectedFile[] };
}

const GOLDENS = goldenSet<ZipCase>("zip");

/** One case. */
export const zipCase = GOLDENS.one;

/** All cases. */
export const zipCases = GOLDENS.all;
