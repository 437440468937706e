import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ExtractTarget } from "../../../io/extract/extract_target.ts";
import { decodeName } from "../../../base/names.ts";
import { newStat, type NodeId, type Tree } from "../../../tree/tree.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { type WalkedNode, Walker } from "../../../tree/vfs/walk.ts";

/** Bytes of a link's target, at most. */
const LONGEST_TARGET = 4095;

/** How a directory is finished. */
interface Finish {
  readonly target: ExtractTarget;
  readonly signal: AbortSignal;
  /** Told of each link that was made. */
  readonly onLink: () => void;
  /** Told of each that was not. */
  readonly onFailure: (path: string, error: unknown) => void;
}

/** When a node was modified; `undefined` where it has no time of its own, or none that can be told. */
export function timeOf(tree: Tree, node: NodeId): Date | undefined {
  if (tree.hasTimes !== true) return undefined;
  try {
    return tree.stat(node, stat) ? new Date(stat.mtime) : undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return undefined; // who reads it says what is wrong
    throw error;
  }
}

const stat = newStat();

/**
 * Makes the symbolic links of a directory whose files are in place, and then gives directories their times: nothing is
 * put into them any more.
 */
export async function finishDirectory(
  fs: VirtualFs,
  path: string,
  { target, signal, onLink, onFailure }: Finish,
): Promise<void> {
  const { tree } = fs;
  const { ino } = await fs.stat(path);
  const time = (node: NodeId) => timeOf(tree, node) ?? target.mtime;
  if (tree.isLink !== undefined) {
    await forEachNode(fs, ino, path, signal, target, (entry) => {
      if (!tree.isLink!(entry.node)) return;
      try {
        target.makeLink(entry, targetOf(tree, entry.node), time(entry.node));
        onLink();
      } catch (error) {
        onFailure(entry.path, error);
      }
    });
  }
  if (tree.hasTimes !== true) return;
  await forEachNode(fs, ino, path, signal, target, (entry) => {
    if (!entry.isDirectory) return;
    target.setModified(entry, time(entry.node));
  });
  // The directory that all is extracted to is the user's.
  if (path !== "") target.setModified(path, time(ino));
}

/** Goes through a directory again; what was not made is said already. */
async function forEachNode(
  { tree }: VirtualFs,
  node: NodeId,
  path: string,
  signal: AbortSignal,
  target: ExtractTarget,
  visit: (entry: WalkedNode) => void,
): Promise<void> {
  target.start(path);
  const onDamage = (_: FormatError) => {};
  const walker = new Walker(tree, node, path, Infinity, onDamage, true);
  let lost = Infinity;
  for (;;) {
    const page = await runAsync(walker.nextPage(), signal);
    if (page.length === 0) return;
    for (const entry of page) {
      if (entry.depth > lost) continue;
      lost = Infinity;
      try {
        if (entry.isDirectory) target.makeDirectory(entry);
        visit(entry);
      } catch (error) {
        if (!(error instanceof RecordfsError)) throw error;
        lost = entry.depth;
      }
    }
  }
}

function targetOf(tree: Tree, node: NodeId): string {
  const bytes = new Uint8Array(LONGEST_TARGET);
  const length = tree.readLink!(node, bytes, 0);
  return decodeName(bytes, 0, Math.max(length, 0));
}
