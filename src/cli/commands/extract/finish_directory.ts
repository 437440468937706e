import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ExtractTarget } from "../../../io/unpack/extract_target.ts";
import { decodeName } from "../../../base/names.ts";
import { newStat, type NodeId, type Tree } from "../../../tree/tree.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { type WalkedNode, Walker } from "../../../tree/vfs/walk.ts";

/** Maximum bytes of a link's target. */
const LONGEST_TARGET = 4095;

interface Finish {
  readonly target: ExtractTarget;
  readonly signal: AbortSignal;
  readonly onLink: () => void;
  readonly onFailure: (path: string, error: unknown) => void;
}

/** Modification time of a node; `undefined` if it has none of its own, or it cannot be read. */
export function timeOf(tree: Tree, node: NodeId): Date | undefined {
  if (tree.hasTimes !== true) return undefined;
  try {
    return tree.stat(node, stat) ? new Date(stat.mtime) : undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return undefined; // reading the node reports the error
    throw error;
  }
}

const stat = newStat();

/**
 * Creates the symbolic links of a directory whose files are in place. Sets the times of directories afterwards, when
 * nothing more is written into them.
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
  // The target directory itself belongs to the user.
  if (path !== "") target.setModified(path, time(ino));
}

/** Visits a directory again. Skips what could not be created: that has been reported. */
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
