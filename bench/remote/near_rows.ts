/** Measures without latency: sequential reads, and reads of cached data. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { run, runJson } from "../support/run.ts";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { BARE_PROGRAM } from "./bare.ts";
import { LruFiles } from "./lru_files.ts";
import { coldPass, pass, type Place, recordfs, warm } from "./passes.ts";
import type { Nginx } from "./stores.ts";

/** Concurrent readers of cached data. */
const MANY = 32;
/** Number of epochs with a cache of half the archive. */
const EPOCHS = 4;

interface Contender extends Compared {
  /** Returns the rate in bytes a second. */
  rate(round: number): Promise<number>;
}

/**
 * Reads in sequence, by `extract` and through a mount, compared with one request for the whole archive, and with the
 * same commands on a local copy, which are an upper limit.
 */
export async function sequential(
  place: Place,
  { near }: Nginx,
  rounds: number,
): Promise<Row[]> {
  const what = "remote, nginx, no distance: from front to back";
  const { workspace, files, size, archive } = place;
  const bytes = files * size;
  const { size: all } = fs.statSync(archive);
  const out = `${place.memory}/out`;
  const cache = workspace.file("cache");
  const tar = `${dirname(archive)}/a.tar`;
  await run(["tar", "cf", tar, "-C", `${dirname(archive)}/files`, "."]);
  /** Returns the rate of a command, from its start to its end. */
  const timed = async (command: readonly string[]) => {
    await warm(place); // excludes the server's disk reads
    // Also excludes the time for a virtual machine's host to provide memory.
    await run(["sh", "-c", `head -c "$0" /dev/zero > "$1"`, `${all}`, out]);
    fs.rmSync(out);
    fs.mkdirSync(out);
    const start = performance.now();
    await run(command);
    const rate = bytes / (performance.now() - start) / 1000;
    fs.rmSync(out, { recursive: true });
    fs.rmSync(cache, { recursive: true, force: true });
    return rate;
  };
  const bare = [
    ...[Deno.execPath(), "run", "-A", BARE_PROGRAM],
    ...[near, `${all}`, "1", "0", "1"],
  ];
  const extract = (of: string) =>
    timed([
      ...[...RECORDFS, "extract", of, out, "--sync", "none"],
      ...["--cache-dir", cache],
    ]);
  const mount = async (of: string) => {
    const ours = recordfs({ archive: of, env: {} });
    const touch = Math.ceil(2.2 * bytes / 2 ** 20); // the page cache, and recordfs's cache
    const way = { readers: 1, isInOrder: true, touch };
    const { seconds } = await coldPass(place, ours, way);
    return bytes / seconds / 1e6;
  };
  const extracting: Contender[] = [
    {
      name: "recordfs extract --sync none, into memory",
      rate: () => extract(near),
    },
    { name: "bare fetch, as a command", rate: () => timed(bare), target: 0.8 },
    {
      name: "bare fetch that keeps it, in one file in memory",
      rate: () => timed([...bare, "1", `${out}/one`]),
    },
    {
      name: "curl that keeps it, in one file in memory",
      rate: () => timed(["curl", "-s", "-o", `${out}/one`, near]),
    },
    {
      name: "curl, which throws it away",
      rate: () => timed(["curl", "-s", "-o", "/dev/null", near]),
    },
    {
      name: "curl of a tar of the files, into tar x, into memory",
      rate: async () => {
        await run(["sh", "-c", `cat "$0" > /dev/null`, tar]);
        const url = new URL("a.tar", near).href;
        return await timed([
          ...["sh", "-c", `curl -s "$0" | tar x -C "$1"`, url, out],
        ]);
      },
    },
    {
      name: "recordfs extract of a local copy",
      rate: () => extract(archive),
    },
  ];
  const mounting: Contender[] = [
    {
      name: "recordfs mount, one reader in name order",
      rate: () => mount(near),
    },
    {
      name: "bare fetch, without its start",
      rate: async () => {
        await warm(place);
        const { seconds } = await runJson<{ seconds: number }>(bare);
        return bytes / seconds / 1e6;
      },
      target: 0.5,
    },
    {
      name: "recordfs mount of a local copy",
      rate: () => mount(archive),
    },
  ];
  const rows: Row[] = [];
  for (const contenders of [extracting, mounting]) {
    const rates = await alternate(contenders, rounds, async (one, round) => {
      progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
      return await one.rate(round);
    });
    rows.push(...rowsBesideFirst(what, "MB/s", contenders, rates));
  }
  fs.rmSync(tar);
  return rows;
}

/** Reads cached data with a cold page cache, compared with a mount of a local copy. */
export async function secondPass(
  place: Place,
  { counted, sent }: Nginx,
  rounds: number,
): Promise<Row[]> {
  const what = `remote: all cached, not in memory, random, ${MANY} readers`;
  const cache = place.workspace.file("full-cache");
  await run([...RECORDFS, "cache", "fill", counted, "--cache-dir", cache]);
  const ours = recordfs({ archive: counted, env: {} });
  const local = { ...recordfs({ archive: place.archive, env: {} }) };
  const contenders = [ours, {
    ...local,
    name: "recordfs mount of a local copy",
  }];
  let asked = 0;
  const rates = await alternate(contenders, rounds, async (one, round) => {
    progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
    sent();
    const touch = Math.ceil(2.2 * place.files * place.size / 2 ** 20);
    const way = { readers: MANY, seed: 1 + round, touch };
    const [read] = await pass(place, one, cache, [way]);
    asked += Math.max(0, sent().requests - 1); // the first request revalidates the cache
    return read!.filesRead / read!.seconds;
  });
  fs.rmSync(cache, { recursive: true });
  const [row, beside] = rowsBesideFirst(what, "files/s", [contenders[0]!, {
    ...contenders[1]!,
    target: 0.95,
  }], rates);
  return [row!, beside!, {
    measured: what,
    subject: "requests while reading",
    value: asked,
    unit: "requests",
    target: { promise: "0", met: asked === 0 },
  }];
}

/** Runs epochs over an archive with a cache of half its size. */
export async function halfCached(
  place: Place,
  { counted, sent }: Nginx,
): Promise<Row[]> {
  const rows: Row[] = [];
  const { files, size } = place;
  const bytes = files * size;
  for (const isFresh of [true, false]) {
    const what = `remote: cache of half the archive, ${
      isFresh ? "each epoch shuffled anew" : "the same order each epoch"
    }`;
    progress(what);
    const ours = recordfs(
      { archive: counted, env: {} },
      ...["--cache-size", `${Math.floor(bytes / 2)}`],
    );
    const seeds = Array.from({ length: EPOCHS }, (_, i) => isFresh ? i + 1 : 1);
    const shares: number[] = [];
    const cache = place.workspace.file("half-cache");
    for (const [epoch, seed] of seeds.entries()) {
      // A mount for each epoch: the cache persists between them.
      sent();
      await pass(place, ours, cache, [{ readers: 8, seed }]);
      const share = sent().bytes / bytes;
      if (epoch > 0) shares.push(share);
    }
    fs.rmSync(cache, { recursive: true });
    const again = Math.max(...shares);
    rows.push({
      measured: what,
      subject: "recordfs: bytes fetched again, of all",
      value: median(shares),
      unit: "of 1",
      rounds: shares,
      target: { promise: "≤ 0.6", met: again <= 0.6 },
    }, {
      measured: what,
      subject: "what is used least recently goes, computed",
      value: new LruFiles(files, files / 2).missesOf(seeds),
      unit: "of 1",
    });
  }
  return rows;
}
