import { compareFiles } from "../compare_files.ts";
import { readPasses } from "../reader.ts";
import { compare, type Comparison } from "./comparison.ts";
import type { Contender } from "./contender.ts";
import { outcomes } from "./environment.ts";
import { libfuseSequential } from "./libfuse.ts";
import { recordfs } from "./recordfs.ts";
import type { FilesScene, Measurement } from "./scene.ts";

/**
 * Reads one large file of a fresh mount from start to end, 1 MiB at a time.
 *
 * @param label Label of the file in the title.
 */
export function sequentialRead(label: string): Measurement<FilesScene> {
  const comparison: Comparison = {
    title: `mount_suite, sequential: ${label}`,
    of: { what: "sequential" },
    unit: "MB/s",
    better: "more",
  };
  const measure = async (
    { environment, packed, touch }: FilesScene,
    contender: Contender,
    round: number,
  ) => {
    const mounted = await environment.start(contender);
    const { mountpoint } = mounted;
    const passes = await readPasses([
      ...[environment.programs.reader, "--in-order"],
      ...["--passes", contender.isCached ? "2" : "1"],
      ...(touch > 0 ? ["--touch", `${touch}`] : []),
      mountpoint,
    ], packed.size);
    if (round === 0) await compareFiles(packed, mountpoint);
    await mounted.stop();
    return passes.at(-1)!.megabytesPerSecond;
  };
  return {
    titles: [comparison.title],
    async run(scene) {
      const { environment, data, peers, cached } = scene;
      const all = [
        ...await recordfs(data),
        ...libfuseSequential(environment.programs.server, data),
        ...[...peers, cached],
      ];
      const measured = await environment.alternate(
        label,
        all,
        (contender, round) => measure(scene, contender, round),
      );
      return compare(comparison, outcomes(all, measured, (rate) => rate));
    },
  };
}
