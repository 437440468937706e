import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { bareGets } from "./bare.ts";
import { type Place, withEnv } from "./passes.ts";
import type { Nginx, Store } from "./stores.ts";

const PROGRAM = fileURLToPath(new URL("loader_pass.ts", import.meta.url));
const BATCH = 64;
const IN_FLIGHT = 32;
/** Passes over cached data; the first, which compiles code, does not count. */
const PASSES = 4;

interface Passes {
  readonly seconds: readonly number[];
  readonly samples: number;
}

function loaderCommand(
  { archive, env }: Pick<Store, "archive" | "env">,
  cache: string,
  workers: number,
  passes: number,
  batches: number,
): string[] {
  return [
    ...withEnv(env),
    ...[Deno.execPath(), "run", "-A", PROGRAM, archive, cache],
    ...[`${workers}`, `${passes}`, `${batches}`],
  ];
}

/** Loads batches with an empty cache, compared with bare requests. */
export async function coldLoader(
  place: Place,
  store: Store,
  rounds: number,
): Promise<Row[]> {
  const what = `remote, ${store.name}: loader, cold, batches of ${BATCH}`;
  const batches = Math.floor(place.files / BATCH / 2);
  const loaders = [0, 2].map((workers) => ({
    name: `DataLoader, ${workers} workers`,
    async read() {
      const cache = place.workspace.file("loader-cache");
      const command = loaderCommand(store, cache, workers, 1, batches);
      const { seconds, samples } = await runJson<Passes>(command);
      fs.rmSync(cache, { recursive: true });
      return { seconds: seconds[0]!, filesRead: samples };
    },
  }));
  const bare = bareGets(place, store, IN_FLIGHT, batches * BATCH);
  const contenders = [...loaders, bare];
  const rates = await alternate(contenders, rounds, async (one, round) => {
    progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
    const { filesRead, seconds } = await one.read();
    return filesRead / seconds;
  });
  return loaders.flatMap((loader, i) =>
    rowsBesideFirst(what, "samples/s", [loader, {
      name: bare.name,
      target: 0.9,
    }], [rates[i]!, rates[2]!])
  );
}

/** Loads batches that are cached and in the page cache, compared with those of a local file. */
export async function cachedLoader(
  place: Place,
  { near }: Nginx,
  rounds: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  const cache = place.workspace.file("loader-cache");
  const batches = Math.floor(place.files / BATCH);
  for (const workers of [0, 2]) {
    const what =
      `remote: loader, cached, batches of ${BATCH}, ${workers} workers`;
    const contenders = [
      { name: "over HTTP", archive: near },
      { name: "of a local copy", archive: place.archive, target: 0.95 },
    ];
    const rates = await alternate(contenders, rounds, async (one, round) => {
      progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
      const store = { archive: one.archive, env: {} };
      const command = loaderCommand(store, cache, workers, PASSES, batches);
      const { seconds, samples } = await runJson<Passes>(command);
      return samples / Math.min(...seconds.slice(1));
    });
    rows.push(...rowsBesideFirst(what, "samples/s", contenders, rates));
  }
  fs.rmSync(cache, { recursive: true });
  return rows;
}
