import { fileURLToPath } from "node:url";
import type { PackedTree } from "../packed_tree.ts";
import { progress, type Row } from "../../support/report.ts";
import { alternate, median } from "../../support/rounds.ts";
import { runJson } from "../../support/run.ts";

const OPEN = fileURLToPath(
  new URL("../../ffrecord/open_packed_folder.ts", import.meta.url),
);

/** Openings in each process: the first, before code is compiled, and later ones. */
const TIMES = 8;

/** Most time of opening five times as many names, relative to the smaller folder. */
const MOST_RATIO = 4;

/** Opens a folder of names and one of five times as many. */
export async function openRows(
  small: PackedTree,
  large: PackedTree,
  rounds: number,
): Promise<Row[]> {
  const taken = await alternate([small, large], rounds, (tree, round) => {
    progress(`scale: open ${tree.files} names, round ${round + 1}`);
    return runJson<number[]>([
      ...[Deno.execPath(), "run", "-A", OPEN],
      ...[tree.archive, `${TIMES}`],
    ]);
  });
  const rowsOf = (
    what: string,
    pick: (round: number[]) => number,
    isPromised: boolean,
  ): Row[] => {
    const measured = `scale, open: ${what}`;
    const [few, many] = taken.map((rounds) => rounds.map(pick));
    const row = (subject: string, rounds: number[]): Row => ({
      measured,
      subject,
      value: median(rounds),
      unit: "ms",
      rounds,
    });
    const times = median(many!) / median(few!);
    return [
      row(`PackedFolder.open, ${small.files} names`, few!),
      row(`PackedFolder.open, ${large.files} names`, many!),
      {
        measured,
        subject: "the one against the other",
        value: times,
        unit: "×",
        ...(isPromised
          ? { target: { promise: `< ${MOST_RATIO}×`, met: times < MOST_RATIO } }
          : {}),
      },
    ];
  };
  return [
    ...rowsOf("first in the process", (round) => round[0]!, true),
    ...rowsOf("later ones", (round) => median(round.slice(1)), false),
  ];
}
