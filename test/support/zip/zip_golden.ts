/** The zips that others wrote, and what Python's zipfile says is in them. */
import * as fs from "node:fs";
import { REPOSITORY } from "../paths.ts";

const ROOT = `${REPOSITORY}test/golden/zip`;

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

/** One case. */
export function zipCase(name: string): ZipCase {
  const text = fs.readFileSync(`${ROOT}/${name}/expect.json`, "utf8");
  const { target, content } = JSON.parse(text);
  return { name, path: `${ROOT}/${name}/${target}`, content };
}

/** All cases. */
export function zipCases(): ZipCase[] {
  return fs.readdirSync(ROOT).sort().map(zipCase);
}
