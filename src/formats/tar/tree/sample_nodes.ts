import type { NameTable } from "../../../tree/names/name_table.ts";
import type { NodeId, SampleRun } from "../../../tree/tree.ts";
import type { TarColumns } from "../read/tar_columns.ts";

/**
 * The samples of a tar as runs of nodes in one directory: each is as many neighbours as it has files, so that most
 * tars are one run.
 */
export function* sampleRuns(
  { nodes, sampleRecords, sampleStarts }: TarColumns,
  names: NameTable,
): Generator<SampleRun> {
  let run = { first: 0, stride: 0, width: 0, count: 0 };
  let parent: NodeId = 0;
  for (let sample = 0; sample + 1 < sampleStarts.length; sample++) {
    const [start, end] = [sampleStarts[sample]!, sampleStarts[sample + 1]!];
    const first = nodes[sampleRecords[start]!]!;
    const width = end - start;
    const directory = names.parent(first);
    if (directory !== parent) {
      if (run.count > 0) yield run;
      run = { first: 0, stride: 0, width: 0, count: 0 };
      parent = directory;
    }
    if (run.count === 1 && run.width === width && first > run.first) {
      run.stride = first - run.first;
    }
    const goesOn = run.count > 0 && run.width === width &&
      run.stride >= width && first === run.first + run.count * run.stride;
    if (goesOn) run.count++;
    else {
      if (run.count > 0) yield run;
      run = { first, stride: width, width, count: 1 };
    }
  }
  if (run.count > 0) yield run;
}
