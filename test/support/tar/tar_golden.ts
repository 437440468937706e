/** The tars that others wrote, and what Python's tarfile says is in them. */
import * as fs from "node:fs";
import { REPOSITORY } from "../paths.ts";

const ROOT = `${REPOSITORY}test/golden/tar`;

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

/** One case. */
export function tarCase(name: string): TarCase {
  const text = fs.readFileSync(`${ROOT}/${name}/expect.json`, "utf8");
  const { target, content } = JSON.parse(text);
  return { name, path: `${ROOT}/${name}/${target}`, content };
}

/** All cases. */
export function tarCases(): TarCase[] {
  return fs.readdirSync(ROOT).sort().map(tarCase);
}
