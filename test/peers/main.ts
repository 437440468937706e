// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Compares how recordfs and other programs read every archive and container of a directory: names, sizes, links,
 * times and contents.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { compareDirectory, missingPeers } from "./compare_directory.ts";

const HELP = `Usage: deno task peers [--out DIR] [--json] DIR

Reads every .tar (also compressed), .zip and .parquet in DIR by recordfs and by the peers that
know it (tar, bsdtar, 7-Zip, unzip, Python, DuckDB, hyparquet), and compares
names, sizes, links, times and contents. One line a file; what differs is
written to --out (peers-differences), a file each.

Exit codes: 0 nothing differs, 1 something does, 2 the command line is wrong.`;

/** Signs in the table, by verdict. */
const SIGNS = {
  "same": "=",
  "differs": "≠",
  "only we read": "+",
  "only they read": "-",
  "nobody reads": "·",
} as const;

Deno.exit(await main());

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...Deno.args],
    allowPositionals: true,
    options: {
      out: { type: "string", default: "peers-differences" },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  const [dir, ...more] = positionals;
  if (values.help) console.log(HELP);
  if (values.help) return 0;
  if (dir === undefined || more.length > 0) {
    console.error(HELP);
    return 2;
  }
  const missing = missingPeers();
  if (missing.length > 0) {
    console.error(`peers: not here, and left out: ${missing.join(", ")}`);
  }
  let [files, differing] = [0, 0];
  for await (const compared of compareDirectory(dir)) {
    files++;
    const { path, entries, comparisons } = compared;
    const differ = comparisons.filter(({ verdict }) =>
      verdict === "differs" || verdict === "only they read"
    );
    if (differ.length > 0) differing++;
    for (const { peer, lines } of differ) {
      const file = join(values.out, `${path}.${peer}`);
      fs.mkdirSync(dirname(file), { recursive: true });
      fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
    }
    const signs = comparisons.map(({ peer, verdict }) =>
      `${SIGNS[verdict]} ${peer}`
    );
    console.log(
      values.json
        ? JSON.stringify(compared)
        : `${path}\t${entries ?? "refused"}\t${signs.join("  ")}`,
    );
  }
  if (!values.json) {
    console.log(
      `${files} files, ${differing} of which others read otherwise` +
        (differing > 0 ? `: see ${values.out}` : ""),
    );
  }
  return differing > 0 ? 1 : 0;
}
