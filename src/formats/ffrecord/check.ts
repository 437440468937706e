import { FormatError } from "../../base/errors.ts";
import { checkContents } from "../../tree/check/check_contents.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import { lostError } from "../../tree/samples/open_shards.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { type NodeId, ROOT } from "../../tree/tree.ts";
import { packedNames } from "./folder/packed_files.ts";
import { openAs } from "./kinds.ts";
import { sampleMismatch } from "./read/read_samples.ts";
import { openRecordFiles, type RecordFiles } from "./read/record_files.ts";
import { FFRecordTree } from "./tree/tree.ts";

/**
 * Verifies the checksum of every sample of FFRecord files, and reads the folder structure, if any.
 *
 * @throws {FormatError} If a header is damaged, so that nothing can be checked.
 */
export async function checkRecordFiles(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const files = await run.run(
    openRecordFiles(location, { ...options, checkData: true }),
  );
  const { index, sources } = files;
  try {
    run.total = sources.reduce((sum, { size }) => sum + size, 0);
    for (const lost of index.lost) run.damage(lostError(lost));
    const names = await readNames(run, files);
    const nameOf = names instanceof FFRecordTree
      ? namesIn(names)
      : () => undefined;
    await checkContents(run, {
      length: index.length,
      sources,
      checksumKind: "crc32",
      locate: (sample, into) => index.locate(sample, into),
      overlapping: (sample, { source }) =>
        overlapping(index.shards[source]!.path, sample),
      mismatch: (...found) => sampleMismatch(index, ...found),
    }, (sample, error) => {
      const name = nameOf(sample);
      run.damage(
        name !== undefined && error instanceof FormatError
          ? namedError(error, name)
          : error,
      );
    });
    if (run.damaged === 0 && names instanceof FormatError) run.damage(names);
    run.advanceTo(run.total);
    return run.report({ samples: index.length });
  } finally {
    for (const source of sources) source.close();
  }
}

/** Reads the file names of a packed folder; returns the error if they are damaged. */
async function readNames(
  run: CheckRun,
  files: RecordFiles,
): Promise<FFRecordTree | FormatError | undefined> {
  try {
    const packed = await run.run(packedNames(files, openAs(run.options), {}));
    return packed && new FFRecordTree({ ...files, mtime: 0 }, packed.names);
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
}

function overlapping(path: string, sample: number): FormatError {
  return new FormatError(
    "bad-offsets",
    `Cannot check sample ${sample} of ${path}: the samples before it ` +
      "overlap, since together they are longer than the file: it is damaged. Download " +
      "it again",
    { path, sample },
  );
}

/** Returns a lookup from samples to file names of a packed folder, built at the first call. */
function namesIn(tree: FFRecordTree): (sample: number) => string | undefined {
  let nodes: ReadonlyMap<number, NodeId> | undefined;
  return (sample) => {
    const node = (nodes ??= nodesBySample(tree)).get(sample);
    return node === undefined ? undefined : tree.pathTo(node);
  };
}

function nodesBySample(tree: FFRecordTree): Map<number, NodeId> {
  const nodes = new Map<number, NodeId>();
  for (let node = ROOT + 1; node <= tree.nodeCount; node++) {
    const sample = tree.recordOf(node);
    if (sample >= 0 && !nodes.has(sample)) nodes.set(sample, node);
  }
  return nodes;
}

function namedError(error: FormatError, member: string): FormatError {
  const { code, message, sample } = error;
  const { path, offset, expected, actual, cause } = error;
  const named = message.replace(
    /^(Cannot \w+) (sample \d+)/,
    (_, cannot, number) => `${cannot} '${member}' (${number})`,
  );
  return new FormatError(
    code,
    named,
    { path, offset, expected, actual, sample, member, cause },
  );
}
