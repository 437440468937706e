import { Op } from "../../../codecs/pickle/opcodes.ts";
import { PickleEmitter } from "../../../codecs/pickle/pickle_emitter.ts";
import type { ListedEntry } from "../pack/pack_listing.ts";
import { MAGIC } from "./structure_magic.ts";

/** How many items Python's pickler hands over to a dictionary at a time. */
const BATCH = 1000;
/** Pieces are about this long. */
const PIECE = 1 << 16;

/**
 * Writes a packed folder's structure, the content of its last sample: nested
 * `collections.OrderedDict`s, name -> sample index or name -> folder.
 *
 * @param entries The folder's entries, depth first; files are numbered in that order.
 * @param firstSample Number of the first file.
 * @returns The sample, piece by piece.
 */
export function* writeStructure(
  entries: Iterable<ListedEntry>,
  firstSample = 0,
): Generator<Uint8Array<ArrayBuffer>> {
  yield new Uint8Array(MAGIC);
  const out = new PickleEmitter();
  out.text("collections");
  out.text("OrderedDict");
  out.op(Op.STACK_GLOBAL);
  const orderedDict = out.memoize();
  /** How many items each open folder has; the root first. */
  const counts = [0];
  let sample = firstSample;
  makeDict(out);
  for (const entry of entries) {
    if (entry.kind === "end") {
      if (counts.pop()! > 0) out.op(Op.SETITEMS);
      continue;
    }
    const count = counts.pop()!;
    if (count % BATCH === 0) {
      if (count > 0) out.op(Op.SETITEMS);
      out.op(Op.MARK);
    }
    counts.push(count + 1);
    out.text(entry.name);
    if (entry.kind === "file") {
      out.memoize(); // nobody recalls it, but Python does so, and what looks like that is read faster
      out.int(sample++);
    } else {
      out.recall(orderedDict);
      makeDict(out);
      counts.push(0);
    }
    if (out.length >= PIECE) yield out.take();
  }
  if (counts.pop()! > 0) out.op(Op.SETITEMS);
  out.op(Op.STOP);
  yield out.take();
}

/** Calls the class that is on the stack, without arguments. */
function makeDict(out: PickleEmitter): void {
  out.op(Op.EMPTY_TUPLE);
  out.op(Op.REDUCE);
}
