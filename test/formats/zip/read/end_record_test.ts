/** Ambiguous end records of zips: either all programs find the same members, or the zip is rejected. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { FormatError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../src/open/open.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";
import { ZIP64_ENDS } from "../../../support/zip/zip64_ends.ts";
import { ZIP_ENDS } from "../../../support/zip/zip_ends.ts";
import { contentOf } from "../../../support/zip/zip_records.ts";

const ENDS = [...ZIP_ENDS, ...ZIP64_ENDS];
const PROGRAMS = ["unzip", "7zz", "python3", "bsdtar"] as const;

/** Returns the names of files with the right content, as letters; `0` if there are none. */
function letters(found: Iterable<readonly [string, Uint8Array]>): string {
  const right = [...found]
    .filter(([name, bytes]) =>
      Buffer.from(bytes).toString("latin1") === contentOf(name)
    ).map(([name]) => name).sort();
  return right.length === 0 ? "0" : right.join("");
}

/** Returns the names that recordfs finds, without members that `check` reports as damaged. */
async function foundHere(bytes: Uint8Array): Promise<string> {
  try {
    // Unreadable members cause warnings, and `check` reports them as damage.
    using zip = await open(bytes, { format: "zip", onWarning: () => {} });
    const names = await zip.list("");
    const contents = await zip.read(names);
    const onDamage = (error: Error) => {
      throw error;
    };
    await check(bytes, { onDamage });
    return letters(names.map((name, i) => [name, contents[i]!]));
  } catch (error) {
    assert.ok(error instanceof FormatError, String(error));
    assert.doesNotMatch(error.message, /NaN|undefined|Infinity/);
    return "-";
  }
}

/** Whether a program that finds anything finds the same as recordfs. */
function agree(here: string, found: string): boolean {
  return here === "-" || found === "-" || found === here;
}

Deno.test("a zip is read like unzip, 7-Zip, Python and bsdtar read it, or rejected", async () => {
  for (const [name, parts, found, here] of ENDS) {
    assert.equal(await foundHere(Buffer.concat(parts)), here, name);
    for (const [i, other] of found.split(" ").entries()) {
      assert.ok(agree(here, other), `${name}: ${PROGRAMS[i]} finds ${other}`);
    }
  }
});

/** Extracts each zip into a directory of its name, and prints 0 for each that was extracted completely. */
const BY_PYTHON = `
import sys, zipfile
for name in sys.argv[1:]:
    try:
        with zipfile.ZipFile(f"{name}.zip") as z:
            failed = 0
            for info in z.infolist():
                try:
                    z.extract(info, f"python3/{name}")
                except zipfile.BadZipFile:
                    failed = 1
    except Exception:
        failed = 1
    print(failed)
`;

/** Commands that do the same for one zip. */
const BY_OTHERS = {
  unzip: 'unzip -qq -o "$n.zip" -d "unzip/$n"',
  "7zz": '7zz x -bd -y "-o7zz/$n" "$n.zip"',
  bsdtar: 'bsdtar -xf "$n.zip" -C "bsdtar/$n"',
};

/** Least exit code of each program that is more than a warning. */
const LEAST_FAILURE = { unzip: 2, "7zz": 2, python3: 1, bsdtar: 1 };

for (const program of PROGRAMS) {
  Deno.test({
    name: `${program} reads every undamaged zip the same`,
    ignore: needs(program).ignore ||
      !FULL && (program === "7zz" || program === "bsdtar"),
    fn: () =>
      withTempDir(async (dir) => {
        const names = ENDS.map((_, i) => String(i).padStart(3, "0"));
        for (const [i, [, parts]] of ENDS.entries()) {
          fs.writeFileSync(`${dir}/${names[i]}.zip`, Buffer.concat(parts));
          fs.mkdirSync(`${dir}/${program}/${names[i]}`, { recursive: true });
        }
        const codes = await extractAll(program, dir, names);
        for (const [i, [name, , , here]] of ENDS.entries()) {
          const isDone = codes[i]! < LEAST_FAILURE[program];
          const found = foundIn(`${dir}/${program}/${names[i]}`, isDone);
          assert.ok(agree(here, found), `${name}: ${program} finds ${found}`);
        }
      }),
  });
}

/** @returns The exit code of each zip. */
async function extractAll(
  program: typeof PROGRAMS[number],
  dir: string,
  names: readonly string[],
): Promise<number[]> {
  const command = program === "python3" ? [PYTHON, "-c", BY_PYTHON] : [
    "sh",
    "-c",
    `for n; do ${BY_OTHERS[program]} </dev/null >/dev/null 2>&1; echo $?; done`,
    "sh",
  ];
  const { stdout, stderr, code } = await output(
    ...["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", dir] as const,
    ...command,
    ...names,
  );
  assert.equal(code, 0, stderr);
  const codes = stdout.trimEnd().split("\n").map(Number);
  assert.equal(codes.length, names.length);
  return codes;
}

/** Returns what a program has extracted. */
function foundIn(dir: string, isDone: boolean): string {
  const names = fs.readdirSync(dir);
  const found = letters(
    names.map((name) => [name, fs.readFileSync(`${dir}/${name}`)]),
  );
  return found === "0" && !isDone ? "-" : found;
}
