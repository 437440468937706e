import { setTimeout } from "node:timers/promises";
import type { Programs } from "../build.ts";
import { MountedServer } from "../../support/mounted_server.ts";
import { progress, type Row } from "../../support/report.ts";
import { median } from "../../support/rounds.ts";
import { run } from "../../support/run.ts";
import type { Contender, Serving } from "./contender.ts";
import type { Data } from "./data.ts";
import { mountCommand } from "./recordfs.ts";
import type { FilesScene, Measurement } from "./scene.ts";

/** The trace counts as complete when it has not grown for this long, in milliseconds. */
const QUIET = 200;

/**
 * Counts the requests that the kernel sends to recordfs when everything is listed and read a second time.
 *
 * @param label Label of the files in the title.
 */
export function warmRequests(label: string): Measurement<FilesScene> {
  const title = `mount_suite, requests to list and read all again: ${label}`;
  const traced = ({ data }: FilesScene): Contender => ({
    kind: "recordfs",
    name: "recordfs",
    image: data.archive,
    start: (mountpoint) =>
      MountedServer.start([
        ...["sh", "-c", 'exec "$@" 2>"$0"', traceOf(data)],
        ...mountCommand("--trace"),
        ...[data.archive, mountpoint],
      ], mountpoint),
  });
  const useAll = ({ reader }: Programs, mounted: Serving) =>
    run([
      ...["sh", "-ec"],
      'find "$0" -size +0 >/dev/null; ls -lR "$0" >/dev/null; "$1" "$0"',
      ...[mounted.mountpoint, reader],
    ]);
  return {
    titles: [title],
    async run(scene): Promise<Row[]> {
      const { environment, data, packed } = scene;
      const { programs } = environment;
      const trace = traceOf(data);
      const rounds: number[] = [];
      let most = new Map<string, number>();
      for (let round = 0; round < environment.rounds; round++) {
        progress(`${title}: round ${round + 1} of ${environment.rounds}`);
        const mounted = await environment.start(traced(scene));
        await useAll(programs, mounted);
        const before = await countRequests(trace);
        if ((before.get("READ") ?? 0) < packed.names.length) {
          throw new Error(`${trace} has no line for the reading of each file`);
        }
        await useAll(programs, mounted);
        const again = without(await countRequests(trace), before);
        rounds.push(total(again));
        if (total(again) > total(most)) most = again;
        await mounted.stop();
      }
      const value = median(rounds);
      const kinds = [...most].map(([name, count]) => `${count} ${name}`);
      return [{
        measured: title,
        subject: "recordfs",
        value,
        unit: "requests",
        rounds,
        target: { promise: "0", met: value === 0 },
        ...(kinds.length > 0
          ? { note: `in the worst round ${kinds.join(", ")}` }
          : {}),
      }];
    },
  };
}

/** Counts the lines of a trace by request, once it no longer grows. */
async function countRequests(trace: string): Promise<Map<string, number>> {
  let text = await Deno.readTextFile(trace);
  for (let before = -1; before < text.length;) {
    before = text.length;
    await setTimeout(QUIET);
    text = await Deno.readTextFile(trace);
  }
  const counts = new Map<string, number>();
  for (const [, name] of text.matchAll(/^recordfs: ([A-Z_]+) /gm)) {
    if (name === "STATFS") continue; // sent by any program that looks at all mounts, such as df
    counts.set(name!, (counts.get(name!) ?? 0) + 1);
  }
  return counts;
}

function without(
  counts: ReadonlyMap<string, number>,
  others: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map(
    [...counts]
      .map(([name, count]) => [name, count - (others.get(name) ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function traceOf({ archive }: Data): string {
  return `${archive}.trace`;
}
