/** The archives that ratarmount (github.com/mxmlnkn/ratarmount) is tested with, of all kinds: read as others read them, or refused by name. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import { open } from "../../../src/open/open.ts";
import {
  ARCHIVES,
  needs,
  PEER_ARCHIVES,
} from "../../support/programs/programs.ts";
import { ARCHIVE_PEERS, isArchive, RATARMOUNT } from "../archive_peers.ts";
import { compareDirectory } from "../compare_directory.ts";

/** Archives that take long, or more disk than a program is given. */
const PASSED_OVER = /-(100|300)-folders-|larger-than-8GiB/;

/** What others are known to read otherwise, by the archive and by the programs; and why. */
const KNOWN: Readonly<Record<string, string>> = {
  "absolute-file-incremental.tar ratarmount":
    "has the times in names of old incremental dumps for directories",
  "single-file-incremental.tar ratarmount":
    "has the times in names of old incremental dumps for directories",
  "denormal-paths-tarfile.tar ratarmount": "resolves .. in names",
  "denormal-paths.tar ratarmount": "resolves .. in names",
  "denormal-paths.zip ratarmount": "resolves .. in names",
  "denormal-paths.zip unzip": "drops .. of names",
  "nested-symlinks.tar tar": "has links that lead out of the archive",
  "nested-symlinks.tar bsdtar": "has links that lead out of the archive",
  "nested-symlinks.tar ratarmount": "has links that lead out of the archive",
  "symlinks.tar tar": "has links that lead out of the archive",
  "symlinks.tar bsdtar": "has links that lead out of the archive",
  "symlinks.tar ratarmount": "has links that lead out of the archive",
  "nested-with-symlink.zip bsdtar": "ignores the times of NTFS",
  "nested-with-symlink.zip unzip": "ignores the times of NTFS",
  "truncated.tar ratarmount": "shows a file that is cut as if it were whole",
  "updated-file-implicitly-with-folder.tar ratarmount":
    "makes a file a directory",
  "updated-folder-with-file.tar ratarmount": "has the last member of a name",
};

/** Zips whose times `ratarmount` takes for those of another zone. */
const OTHER_ZONE = / ratarmount .*\.zip$/;

const there = () => fs.readdirSync(ARCHIVES).sort();

Deno.test({
  name: "archives of ratarmount are read as others read them",
  ...needs(
    "tar",
    "bsdtar",
    "unzip",
    "fuse",
    "root",
    PEER_ARCHIVES,
    "ratarmount",
  ),
  async fn() {
    const names = ["tar", "bsdtar", "unzip"];
    const peers = [
      ...ARCHIVE_PEERS.filter(({ name }) => names.includes(name)),
      RATARMOUNT,
    ];
    let same = 0;
    const differing: string[] = [];
    const isCompared = (path: string) => !PASSED_OVER.test(path);
    const all = compareDirectory(ARCHIVES, peers, isCompared);
    for await (const { path, entries, comparisons } of all) {
      if (entries === undefined) differing.push(`${path} is refused`);
      for (const { peer, verdict, lines } of comparisons) {
        const isKnown = KNOWN[`${path} ${peer}`] !== undefined ||
          verdict === "only we read" || verdict === "nobody reads" ||
          OTHER_ZONE.test(` ${peer} ${path}`) &&
            lines.every((line) => line.includes(": mtime "));
        if (verdict === "same") same++;
        else if (!isKnown) {
          differing.push(`${path} ${peer} ${verdict}`, ...lines);
        }
      }
    }
    assert.deepEqual(differing, []);
    assert.ok(same > 100, `${same}`);
  },
});

Deno.test({
  name: "what of ratarmount's archives is no container is refused by name",
  ...needs(PEER_ARCHIVES),
  async fn() {
    let refused = 0;
    for (const name of there()) {
      if (isArchive(name)) continue;
      const path = `${ARCHIVES}/${name}`;
      if (!fs.statSync(path).isFile()) continue;
      const options = {
        maxRatio: 2000,
        remote: { cache: false as const },
        onWarning() {},
      };
      try {
        using opened = await open(path, options);
        assert.match(name, READ_TOO, `${name} is ${opened.info.format}`);
      } catch (error) {
        assert.ok(error instanceof RecordfsError, `${name}: ${error}`);
        assert.match(error.message, /^Cannot (open|decompress|read) .+: .+/);
        refused++;
      }
    }
    assert.ok(refused > 40, `${refused}`);
  },
});

/** Archives without a suffix that tells so. */
const READ_TOO =
  /^(chimera-tbz2-zip|rar-misrecognized-as-zip.rar|.*\.skippable-frame\.lz4|.*\.tgz\.gz|.*\.tar\.zst\.zst|.*\.tar\.\d+|zeros\..*|simple.*)$/;
