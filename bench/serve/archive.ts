/**
 * Serves a container of many small files as one archive: `/files/?tar` of `recordfs serve`, compared with `recordfs
 * convert` to a tar, which writes it to disk. Both are measured from the command or the request to the last byte.
 *
 *   deno run -A bench/serve/archive.ts [--files N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import { makePackedDirectorySync } from "../support/packed_directory.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { recordfs } from "./servers.ts";

/** `serve_archive`: a directory as one archive. */
export const serveArchiveBenchmark: Benchmark = {
  name: "serve_archive",
  run: measure,
};

/** Least ratio to `convert`: it may take at most three times as long. */
const BESIDE_CONVERT = 0.34;

/** Bytes of a tar block: a header is one, and contents are padded to whole ones. */
const BLOCK = 512;

async function measure(args: string[]): Promise<Row[]> {
  const { numbers: { files, size, rounds }, dir } = parseOptions(args, {
    files: 100_000,
    size: 200,
    rounds: 5,
  });
  const member = BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  await using workspace = await Workspace.create(dir, 3 * files * member);
  progress(`serve_archive: packing ${files} files of ${size} bytes`);
  const packed = makePackedDirectorySync(workspace.file("a.ffr"), files, size);
  const own = workspace.file("own");
  fs.mkdirSync(own);
  const scene = { packed, extracted: own, own };
  await using running = await recordfs.start(scene);
  const { port, prefix, authorization } = running;
  const url = `http://127.0.0.1:${port}${prefix}?tar`;
  const expected = files * member + 2 * BLOCK;
  const served = async () => {
    const headers = { authorization: authorization! };
    const response = await fetch(url, { headers });
    let bytes = 0;
    for await (const piece of response.body!) bytes += piece.length;
    if (bytes !== expected) {
      throw new Error(`The archive has ${bytes} bytes, not ${expected}`);
    }
  };
  const target = workspace.file("a.tar");
  const converted = async () => {
    await run([...RECORDFS, "convert", packed.archive, target]);
    fs.rmSync(target);
  };
  const compared = [
    { name: "recordfs serve, /files/?tar", make: served },
    {
      name: "recordfs convert, the whole command",
      make: converted,
      target: BESIDE_CONVERT,
    },
  ];
  const rates = await alternate(compared, rounds, async ({ make }) => {
    const start = performance.now();
    await make();
    return files / (performance.now() - start) * 1000;
  });
  const measured = `${files} files of ${size} bytes as a tar`;
  const named = compared.map(({ name, target }) =>
    target === undefined ? { name } : { name, target }
  );
  return rowsBesideFirst(measured, "files/s", named, rates);
}

if (import.meta.main) await runAlone(serveArchiveBenchmark);
