import { compareFiles } from "../compare_files.ts";
import { familyMemory } from "../../support/memory.ts";
import { readPasses } from "../reader.ts";
import { compare, type Comparison } from "./comparison.ts";
import type { Contender } from "./contender.ts";
import { recordfs } from "./recordfs.ts";
import { outcomes } from "./environment.ts";
import { libfuse, likelyThreads } from "./libfuse.ts";
import type { FilesScene, Measurement } from "./scene.ts";

/** Files to read, and the number of readers. */
export interface RandomReads {
  /** Label of the files in titles, such as `4000 × 100 KB`. */
  readonly label: string;
  /** Size of each file in bytes. */
  readonly size: number;
  readonly readers: number;
  /** Whether to report time to mount and memory too. */
  readonly withCosts: boolean;
}

/** Reads every file of a fresh mount whole, in random order, twice. */
export function randomReads(
  { label, size, readers, withCosts }: RandomReads,
): Measurement<FilesScene> {
  const load = `${label}, ${readers} reader${readers > 1 ? "s" : ""}`;
  const rate = (what: "cold" | "warm"): Comparison => ({
    title: `mount_suite, ${what}: ${load}`,
    of: { what, size, readers },
    unit: "files/s",
    better: "more",
  });
  const [cold, warm] = [rate("cold"), rate("warm")];
  const [mounting, memory] = costs(label, "reading");
  const shown = withCosts ? [cold, warm, mounting, memory] : [cold, warm];

  const measure = async (
    { environment, packed, touch }: FilesScene,
    contender: Contender,
    round: number,
  ) => {
    const mounted = await environment.start(contender);
    const { mountpoint, pid, readyAfter } = mounted;
    const command = [
      ...[environment.programs.reader, "--readers", `${readers}`],
      ...["--passes", "2", ...(touch > 0 ? ["--touch", `${touch}`] : [])],
      mountpoint,
    ];
    const [first, second] = await readPasses(
      command,
      packed.names.length * size,
    );
    if (round === 0) await compareFiles(packed, mountpoint);
    const memory = pid === undefined ? undefined : await familyMemory(pid);
    await mounted.stop();
    return {
      cold: (contender.isCached ? second : first)!.filesPerSecond,
      warm: second!.filesPerSecond,
      readyAfter: contender.isCached ? undefined : readyAfter,
      megabytes: memory === undefined ? undefined : memory / 1e6,
    };
  };

  return {
    titles: shown.map(({ title }) => title),
    async run(scene) {
      const { environment, data, peers, cached } = scene;
      const { server } = environment.programs;
      const all = [
        ...await recordfs(data),
        ...libfuse(server, data, likelyThreads(readers)),
        ...[...peers, cached],
      ];
      const measured = await environment.alternate(
        load,
        all,
        (contender, round) => measure(scene, contender, round),
      );
      const rows = [
        ...compare(cold, outcomes(all, measured, ({ cold }) => cold)),
        ...compare(warm, outcomes(all, measured, ({ warm }) => warm)),
      ];
      if (!withCosts) return rows;
      const served = all.filter(({ isCached }) => !isCached);
      const of = served.map((one) => measured[all.indexOf(one)]);
      return [
        ...rows,
        ...compare(mounting, outcomes(served, of, (one) => one.readyAfter)),
        ...compare(memory, outcomes(served, of, (one) => one.megabytes)),
      ];
    },
  };
}

/** Returns the comparisons of time to mount and of memory after a load. */
export function costs(label: string, load: string): [Comparison, Comparison] {
  return [
    {
      title: `mount_suite, time to mount: ${label}`,
      of: { what: "time to mount" },
      unit: "ms",
      better: "less",
    },
    {
      title: `mount_suite, memory after ${load}: ${label}`,
      of: { what: "memory" },
      unit: "MB",
      better: "less",
    },
  ];
}
