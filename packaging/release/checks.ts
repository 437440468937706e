import binaries from "../deno_binaries.json" with { type: "json" };
import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../repository.ts";

/** Where the version of Deno is named that all of it is tried with. */
const NAME_DENO = [
  "README.md",
  "CONTRIBUTING.md",
  ".ci/run",
  "docs/install.md",
];

/** Tests of what documents promise. */
const DOCUMENT_TESTS = [
  "test/documents/figures_test.ts",
  "test/documents/links_test.ts",
];

/** The heading of the latest version in the changelog. */
const HEADING = /^## (\S+) – (.+)$/m;

/** Whether the latest version of a changelog has a day, and so is released. */
export function hasDay(changelog: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(HEADING.exec(changelog)?.[2] ?? "");
}

/** A release, or a trial of one, whose changelog may be without a date and whose work is not committed. */
export interface ReleaseOptions {
  readonly isDraft: boolean;
}

/**
 * What keeps a release from being made, a sentence each.
 *
 * @param texts Files by their paths in the repository.
 */
export function faultsOf(
  texts: (path: string) => string,
  { isDraft }: ReleaseOptions,
): string[] {
  const faults: string[] = [];
  const { version } = manifest;
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    faults.push(`deno.json: version ${version} is not three numbers`);
  }
  const changelog = texts("CHANGELOG.md");
  const [, released, date] = HEADING.exec(changelog) ?? [];
  if (released !== version) {
    faults.push(
      `CHANGELOG.md begins with ${released}, and deno.json has version ${version}`,
    );
  } else if (!isDraft && !hasDay(changelog)) {
    faults.push(
      `CHANGELOG.md: ${version} is of ${date}, not of a day as 2026-01-31`,
    );
  }
  for (const path of NAME_DENO) {
    const named = [...texts(path).matchAll(/\bdeno@(\d[\w.]*\w)/g)]
      .map(([, found]) => found!);
    if (named.length === 0) {
      faults.push(`${path} names no deno@${binaries.version}`);
    }
    for (const other of named.filter((found) => found !== binaries.version)) {
      faults.push(
        `${path} names deno@${other}, and the package has ${binaries.version}`,
      );
    }
  }
  if (Deno.version.deno !== binaries.version) {
    faults.push(
      `this is Deno ${Deno.version.deno}, and the package has ${binaries.version}`,
    );
  }
  return faults;
}

/** As {@linkcode faultsOf}, of what takes other programs to know. */
export async function faultsByRunning(
  { isDraft }: ReleaseOptions,
): Promise<string[]> {
  const faults: string[] = [];
  const test = ["test", "-A", "--no-check", "--quiet", ...DOCUMENT_TESTS];
  if (!(await run(Deno.execPath(), test)).success) {
    faults.push(
      "the documents' figures or links are wrong: deno task test test/documents",
    );
  }
  if (!isDraft) {
    const { stdout, success } = await run("git", ["status", "--porcelain"]);
    if (!success || stdout !== "") {
      faults.push("not all is committed: git status");
    }
  }
  return faults;
}

async function run(
  program: string,
  args: readonly string[],
): Promise<{ readonly success: boolean; readonly stdout: string }> {
  const { success, stdout } = await new Deno.Command(program, {
    args: [...args],
    cwd: REPOSITORY,
    stderr: "null",
  }).output();
  return { success, stdout: new TextDecoder().decode(stdout) };
}
