import type { Programs } from "../build.ts";
import { progress } from "../../support/report.ts";
import { alternatePresent } from "../../support/rounds.ts";
import { run } from "../../support/run.ts";
import type { Workspace } from "../../support/workspace.ts";
import type { Outcome } from "./comparison.ts";
import type { Contender, Serving } from "./contender.ts";

/** Measures contenders one at a time, on one mountpoint. */
export class Environment {
  readonly programs: Programs;
  readonly rounds: number;
  readonly #mountpoint: string;
  #current: Serving | undefined;

  /** Makes the mountpoint, and unmounts what is left on it when the workspace ends. */
  constructor(workspace: Workspace, programs: Programs, rounds: number) {
    this.programs = programs;
    this.rounds = rounds;
    this.#mountpoint = workspace.file("mnt");
    Deno.mkdirSync(this.#mountpoint);
    workspace.defer(async () => await this.#current?.stop());
  }

  /** Starts a contender after reading its image into the page cache again, since the kernel may have evicted it. */
  async start(contender: Contender): Promise<Serving> {
    if (!contender.isCached) {
      await run(["dd", `if=${contender.image}`, "of=/dev/null", "bs=1M"]);
    }
    return this.#current = await contender.start(this.#mountpoint);
  }

  /**
   * Measures the available contenders, alternating.
   *
   * @param name Name of the measurement for progress lines.
   * @returns Measurements of each contender, or `undefined` if it can't take part.
   */
  alternate<M>(
    name: string,
    contenders: readonly Contender[],
    measure: (contender: Contender, round: number) => Promise<M>,
  ): Promise<(M[] | undefined)[]> {
    return alternatePresent(contenders, this.rounds, (one, round) => {
      progress(`${name}: round ${round + 1} of ${this.rounds}, ${one.name}`);
      return measure(one, round);
    });
  }
}

/** Pairs each contender with one of its figures. */
export function outcomes<M>(
  contenders: readonly Contender[],
  measured: readonly (readonly M[] | undefined)[],
  figure: (of: M) => number | undefined,
): Outcome[] {
  return contenders.flatMap((contender, i): Outcome[] => {
    const rounds = measured[i]?.map(figure);
    if (rounds === undefined) return [{ contender, rounds }];
    return rounds.every((value) => value !== undefined)
      ? [{ contender, rounds }]
      : [];
  });
}
