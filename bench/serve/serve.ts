/**
 * Serves files of an archive over HTTP: `recordfs serve`, compared with a bare handler of `Deno.serve` that reads the
 * same bytes, nginx over the extracted files, `rclone serve http` of a mount, and Python's `http.server`. `wrk`
 * generates the load.
 *
 *   deno run -A bench/serve/serve.ts [--files N] [--seconds N] [--rounds N] [--connections N] [--large BYTES]
 *     [--only REGEX] [--dir FOLDER] [--json]
 *
 * `--only` selects parts by name: `small` (4 KB), `medium` (100 KB), `large` (one file). The defaults need 5 GB of
 * disk, and as much memory to keep everything in the page cache.
 *
 * @module
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { isThere } from "../remote/packages.ts";
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
import { SERVE_PACKAGES } from "./packages.ts";
import {
  bare,
  type Contender,
  nginx,
  python,
  rclone,
  recordfs,
  recordfsInTwo,
  recordfsLogging,
  type Running,
  type Scene,
} from "./servers.ts";

/** `serve`: files over HTTP. */
export const serveBenchmark: Benchmark = { name: "serve", run: measure };

/** Files to request, and the number of connections. */
interface Load {
  readonly measured: string;
  readonly size: number;
  readonly files: number;
  readonly connections: number;
  readonly unit: "MB/s" | "files/s";
  /** Promised speed relative to nginx. */
  readonly besideNginx: number;
  /** Promised speed relative to Python: with one file, both only copy memory. */
  readonly besidePython?: number;
}

/** Seconds of warm-up, which compile code before the clock starts. */
const WARM_UP = 1;

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir, only } = parseOptions(
    args,
    {
      files: 20_000,
      seconds: 5,
      rounds: 5,
      connections: 32,
      large: 1_000_000_000,
    },
    [],
    true,
  );
  const { files, seconds, rounds, connections, large } = numbers;
  const absent = [...SERVE_PACKAGES].filter(([program]) => !isThere(program));
  if (absent.length > 0) {
    throw new Error(
      `bench/serve takes ${absent.map(([program]) => program).join(", ")}: ` +
        `\`deno task setup\` or \`apt-get install ${
          absent.map(([, name]) => name).join(" ")
        }\``,
    );
  }
  const loads: Record<string, Load> = {
    small: {
      measured: `files of 4 KB, ${connections} connections`,
      ...{ size: 4096, files, connections },
      ...{ unit: "files/s", besideNginx: 0.3, besidePython: 3 },
    },
    medium: {
      measured: `files of 100 KB, ${connections} connections`,
      ...{ size: 100_000, files, connections },
      ...{ unit: "files/s", besideNginx: 0.3, besidePython: 3 },
    },
    large: {
      measured: `one file of ${large / 1e6} MB, 1 connection`,
      ...{ size: large, files: 1, connections: 1 },
      ...{ unit: "MB/s", besideNginx: 0.35 },
    },
  };
  const wanted = new RegExp(`^(?:${only ?? ".*"})$`);
  const rows: Row[] = [];
  for (const [name, load] of Object.entries(loads)) {
    if (wanted.test(name)) rows.push(...await part(load, dir, seconds, rounds));
  }
  return rows;
}

async function part(
  load: Load,
  dir: string | undefined,
  seconds: number,
  rounds: number,
): Promise<Row[]> {
  const { measured, size, files, unit } = load;
  await using workspace = await Workspace.create(dir, 2 * files * size);
  progress(`serve: packing and extracting ${files} files of ${size} bytes`);
  const packed = makePackedDirectorySync(workspace.file("a.ffr"), files, size);
  const extracted = workspace.file("files");
  await run([...RECORDFS, "extract", packed.archive, extracted]);
  const own = workspace.file("own");
  fs.mkdirSync(own);
  const scene: Scene = { packed, extracted, own };
  progress(`serve: ${measured}`);
  const contenders: readonly (readonly [Contender, number | undefined])[] = [
    [recordfs, undefined],
    [recordfsInTwo, undefined],
    [recordfsLogging, undefined],
    [bare, 0.85],
    [nginx, load.besideNginx],
    [rclone, 2],
    [python, load.besidePython],
  ];
  const rates = await alternate(
    contenders,
    rounds,
    async ([contender], round) => {
      await using running = await contender.start(scene);
      await request(running, load, WARM_UP, round);
      return await request(running, load, seconds, round);
    },
  );
  const compared = contenders.map(([{ name }, target]) => ({
    name,
    ...target === undefined ? {} : { target },
  }));
  return rowsBesideFirst(measured, unit, compared, rates);
}

/** Output of `load.lua`. */
interface Result {
  readonly requests: number;
  readonly bytes: number;
  readonly microseconds: number;
  readonly failed: number;
}

/** Requests files for some seconds, and returns the rate. */
async function request(
  { port, prefix, authorization }: Running,
  { files, connections, unit }: Load,
  seconds: number,
  seed: number,
): Promise<number> {
  const script = fileURLToPath(new URL("./load.lua", import.meta.url));
  const { success, stdout, stderr } = await new Deno.Command("wrk", {
    args: [
      ...["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "60s"],
      ...["-s", script, `http://127.0.0.1:${port}`],
    ],
    env: {
      LOAD_PREFIX: prefix,
      LOAD_SUFFIX: ".jpg",
      LOAD_COUNT: String(files),
      LOAD_SEED: String(seed),
      ...authorization === undefined
        ? {}
        : { LOAD_AUTHORIZATION: authorization },
    },
  }).output();
  const text = new TextDecoder().decode(stdout);
  const found = /^RESULT (.*)$/m.exec(text)?.[1];
  if (!success || found === undefined) {
    throw new Error(`wrk failed: ${text}${new TextDecoder().decode(stderr)}`);
  }
  const { requests, bytes, microseconds, failed }: Result = JSON.parse(found);
  if (failed > 0) {
    throw new Error(
      `${failed} of ${requests} requests were not answered with the file`,
    );
  }
  return unit === "MB/s" ? bytes / microseconds : requests * 1e6 / microseconds;
}

if (import.meta.main) await runAlone(serveBenchmark);
