import { setTimeout } from "node:timers/promises";
import type { Programs } from "../build.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { progress, type Row } from "../support/report.ts";
import { median } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import type { Contender, Serving } from "./contender.ts";
import type { Data } from "./data.ts";
import { mountCommand } from "./recordfs.ts";
import type { FilesScene, Measurement } from "./scene.ts";

/** The trace counts as complete when nothing was added for so long, in milliseconds. */
const QUIET = 200;

/**
 * Counts what the kernel asks recordfs for when everything is listed and read a second time.
 *
 * @param label How the files are called in the title.
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
      for (let round = 0; round < environment.rounds; round++) {
        progress(`${title}: round ${round + 1} of ${environment.rounds}`);
        const mounted = await environment.start(traced(scene));
        await useAll(programs, mounted);
        const before = await countRequests(trace);
        if (before <= packed.names.length) {
          throw new Error(`${trace} has no line for the reading of each file`);
        }
        await useAll(programs, mounted);
        rounds.push(await countRequests(trace) - before);
        await mounted.stop();
      }
      const value = median(rounds);
      return [{
        measured: title,
        subject: "recordfs",
        value,
        unit: "requests",
        rounds,
        target: { promise: "0", met: value === 0 },
      }];
    },
  };
}

function traceOf({ archive }: Data): string {
  return `${archive}.trace`;
}

/** Lines of a trace, once no more come. STATFS is asked by whoever looks at all mounts, as df does. */
async function countRequests(trace: string): Promise<number> {
  let text = await Deno.readTextFile(trace);
  for (let before = -1; before < text.length;) {
    before = text.length;
    await setTimeout(QUIET);
    text = await Deno.readTextFile(trace);
  }
  return text.match(/^recordfs: (?!STATFS)[A-Z_]+ /gm)?.length ?? 0;
}
