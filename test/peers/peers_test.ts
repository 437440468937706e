/** Archives and containers made by other tools with their various options read the same in all programs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { output } from "../fuse/support/mounting.ts";
import { withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { compareDirectory } from "./compare_directory.ts";

/**
 * Makes a directory of typical archive content: both kinds of links, long and unusual names, holes, empty files,
 * times.
 */
function makeTree(dir: string): void {
  const deep = `${dir}/${"long name ".repeat(12).trim()}/${"d".repeat(90)}`;
  fs.mkdirSync(deep, { recursive: true });
  fs.mkdirSync(`${dir}/empty`);
  fs.writeFileSync(`${deep}/${"f".repeat(90)}.txt`, "far below");
  fs.writeFileSync(`${dir}/ünïcode — 文.txt`, "text");
  fs.writeFileSync(`${dir}/new\nline`, "1");
  fs.writeFileSync(`${dir}/.hidden`, "2");
  fs.writeFileSync(`${dir}/nothing`, "");
  fs.writeFileSync(`${dir}/512`, "x".repeat(512));
  fs.writeFileSync(`${dir}/large`, new Uint8Array(300_000).map((_, i) => i));
  fs.linkSync(`${dir}/large`, `${dir}/hard`);
  fs.symlinkSync("512", `${dir}/link`);
  fs.symlinkSync("empty", `${dir}/link to a directory`);
  fs.symlinkSync("not there", `${dir}/link to nothing`);
  const fd = fs.openSync(`${dir}/holes`, "w");
  fs.writeSync(fd, new TextEncoder().encode("data"), 0, 4, 1_000_000);
  fs.ftruncateSync(fd, 2_000_000);
  fs.closeSync(fd);
  for (const [i, name] of fs.readdirSync(dir).sort().entries()) {
    const time = 1_600_000_000 + 2 * i;
    fs.lutimesSync(`${dir}/${name}`, time, time);
  }
}

/** Shell commands that make archives in `$1` from the working directory. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  tar: [
    // Names over 100 bytes do not fit v7, those over 255 do not fit ustar.
    'tar --format=v7 -cf "$1/v7.tar" large hard link 512 nothing empty',
    'tar --format=ustar -cf "$1/ustar.tar" large hard link 512 nothing empty ün* new* .hidden',
    'tar --format=oldgnu -cf "$1/oldgnu.tar" .',
    'tar --format=gnu -cf "$1/gnu.tar" *',
    'tar --format=posix -cf "$1/posix.tar" .',
    'tar --format=posix --pax-option=globexthdr.name=g,mtime:=1600000000 -cf "$1/global.tar" .',
    'tar --format=gnu -Scf "$1/gnu-sparse.tar" .',
    'for v in 0.0 0.1 1.0; do tar --format=posix --sparse-version=$v -Scf "$1/sparse-$v.tar" .; done',
    'tar -b 200 -cf "$1/blocked.tar" .',
    'tar -cf "$1/appended.tar" large; tar -rf "$1/appended.tar" 512 link; tar -rf "$1/appended.tar" large',
    'tar --format=gnu -cf "$1/label.tar" -V volume large',
  ],
  bsdtar: [
    'for f in ustar pax gnutar; do bsdtar --format=$f -cf "$1/bsd-$f.tar" large hard link 512 nothing empty holes; done',
    'bsdtar --format=pax -cf "$1/bsd-all.tar" .',
    'bsdtar --format=zip -cf "$1/bsd.zip" large 512 nothing empty link',
    'bsdtar --format=zip --options zip:compression=store -cf "$1/bsd-stored.zip" large 512 nothing',
  ],
  "7zz": [
    'for m in Copy Deflate; do 7zz a -bd -bso0 -tzip -mm=$m "$1/7z-$m.zip" large 512 nothing empty "ünïcode — 文.txt"; done',
    '7zz a -bd -bso0 -ttar "$1/7z.tar" large 512 nothing empty',
  ],
  python3: [
    `'${PYTHON}' - "$1" <<'END'
import sys, tarfile, zipfile
for name, form in ("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT):
    with tarfile.open(f"{sys.argv[1]}/python-{name}.tar", "w", format=form) as tar:
        for member in "large", "hard", "link", "512", "nothing", "empty":
            tar.add(member)
for name, method in ("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(f"{sys.argv[1]}/python-{name}.zip", "w", method) as zip:
        for member in "large", "512", "nothing", "ünïcode — 文.txt":
            zip.write(member)
END`,
  ],
};

/** Known differences of peers, by archive and peer, with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  "label.tar tarfile": "has the label of a volume for a file",
  "label.tar 7zz": "has the label of a volume for a file",
  "sparse-0.0.tar 7zz": "knows no holes of extended headers",
  "sparse-0.1.tar 7zz": "knows no holes of extended headers",
  "sparse-1.0.tar 7zz": "knows no holes of extended headers",
  "bsd-all.tar 7zz": "knows no holes of extended headers",
  "bsd-pax.tar 7zz": "knows no holes of extended headers",
  "bsd.zip zipfile": "makes files of links",
};

for (const [program, commands] of Object.entries(MADE)) {
  Deno.test({
    name: `archives of ${program} are read like others read them`,
    ...needs(program, "tar", "bsdtar", "7zz", "unzip", "python3"),
    fn: () =>
      withTempDir(async (dir) => {
        const [tree, archives] = [`${dir}/tree`, `${dir}/archives`];
        fs.mkdirSync(tree);
        fs.mkdirSync(archives);
        makeTree(tree);
        for (const command of commands) {
          const made = await output(
            ...["env", "-C", tree, "TZ=UTC", "sh", "-euc", command, "sh"],
            archives,
          );
          assert.equal(made.code, 0, `${command}: ${made.stderr}`);
        }
        await requireSame(archives);
      }),
  });
}

Deno.test("Parquet files of the tests are read like others read them", () =>
  withTempDir(async (dir) => {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const rows =
      `select i, (i * 0.5)::double as half, i % 3 = 0 as third, 'text ' || i as text,
      case when i % 4 = 0 then null else i end as gaps, [i, i + 1] as list, {'a': i, 'b': 'x'} as struct,
      encode('bytes ' || i) as bytes from range(3000) t(i)`;
    for (const codec of ["uncompressed", "snappy", "zstd", "gzip", "lz4"]) {
      for (const version of ["V1", "V2"]) {
        const path = `${dir}/${codec}-${version}.parquet`;
        await connection.run(
          `copy (${rows}) to '${path}' (format parquet, compression ${codec}, row_group_size 1000, parquet_version ${version})`,
        );
      }
    }
    connection.closeSync();
    instance.closeSync();
    await requireSame(dir);
  }));

async function requireSame(dir: string): Promise<void> {
  let files = 0;
  const differing: string[] = [];
  for await (const { path, entries, comparisons } of compareDirectory(dir)) {
    files++;
    assert.ok(entries !== undefined, `${path} is refused`);
    for (const { peer, verdict, lines } of comparisons) {
      if (verdict === "same" || KNOWN[`${path} ${peer}`] !== undefined) {
        continue;
      }
      differing.push(`${path} ${peer} ${verdict}`, ...lines.slice(0, 5));
    }
  }
  assert.ok(files > 0);
  assert.deepEqual(differing, []);
}
