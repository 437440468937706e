import { Op } from "../../../codecs/pickle/opcodes.ts";
import { PickleEmitter } from "../../../codecs/pickle/pickle_emitter.ts";
import type { ListedEntry } from "../pack/pack_listing.ts";
import { MAGIC } from "./structure_magic.ts";

/** Batch size of Python's pickler for dict items. */
const BATCH = 1000;
/** Approximate size of the yielded pieces. */
const PIECE = 1 << 16;

/**
 * Encodes a packed folder's structure, the content of its last sample, in pieces: nested `collections.OrderedDict`s,
 * name -> sample index or name -> folder. Files are numbered from `firstSample` in the order of `entries`, depth first.
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
  /** Number of items in each open folder, from the root. */
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
      out.memoize(); // never recalled, but as Python does, which readers parse faster
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

/** Calls the class on the stack without arguments. */
function makeDict(out: PickleEmitter): void {
  out.op(Op.EMPTY_TUPLE);
  out.op(Op.REDUCE);
}
