import { formatString } from "../../codecs/json/format.ts";
import type { JsonValue } from "../../codecs/json/value.ts";
import { Op } from "../../codecs/pickle/opcodes.ts";
import { PickleEmitter } from "../../codecs/pickle/pickle_emitter.ts";
import type { CollectedMeta, CollectedVideo } from "./collected_meta.ts";
import type { SerializerChoice } from "./serializer.ts";

/** Makes the bytes of a `.gmeta` file. */
export function dumpMeta(
  meta: CollectedMeta,
  serializer: SerializerChoice,
): Uint8Array {
  if (serializer === "json") return dumpJson(meta);
  if (serializer === "pickle") return dumpPickle(meta);
  return serializer.dump(meta.entries());
}

/** As Python's `json.dump` writes it; meta_data that was there before keeps its very text. */
function dumpJson(meta: CollectedMeta): Uint8Array {
  const videos: string[] = [];
  for (const [id, video] of meta.entries()) {
    videos.push(
      `${formatString(id)}: {"frame_info": [${formatFrames(video)}], ` +
        `"meta_data": [${video.metaJson}]}`,
    );
  }
  return new TextEncoder().encode(`{${videos.join(", ")}}`);
}

function formatFrames({ frames }: CollectedVideo): string {
  const triples: string[] = [];
  for (let i = 0; i < frames.length; i += 3) {
    triples.push(`[${frames[i]}, ${frames[i + 1]}, ${frames[i + 2]}]`);
  }
  return triples.join(", ");
}

/** Python's pickler hands items over to a container in batches of that many. */
const BATCH = 1000;

/**
 * `OrderedDict`s, lists, and plain tuples for frames: the originals' own class for these is named
 * after the package, and the other one could not read it.
 */
function dumpPickle(meta: CollectedMeta): Uint8Array {
  const out = new PickleEmitter();
  out.text("collections");
  out.text("OrderedDict");
  out.op(Op.STACK_GLOBAL);
  const orderedDict = out.memoize();
  makeDict(out);
  inBatches(out, Op.SETITEMS, meta.entries(), ([id, video]) => {
    out.text(id);
    out.recall(orderedDict);
    makeDict(out);
    out.op(Op.MARK);
    out.text("frame_info");
    list(out, video.frameInfo, (frame) => {
      for (const number of frame) out.int(number);
      out.op(Op.TUPLE3);
    });
    out.text("meta_data");
    list(out, video.metaData, (item) => pickleJson(out, item));
    out.op(Op.SETITEMS);
  });
  out.op(Op.STOP);
  return out.take();
}

/** Calls the class that is on the stack, without arguments. */
function makeDict(out: PickleEmitter): void {
  out.op(Op.EMPTY_TUPLE);
  out.op(Op.REDUCE);
}

function list<T>(
  out: PickleEmitter,
  items: Iterable<T>,
  emit: (item: T) => void,
): void {
  out.op(Op.EMPTY_LIST);
  inBatches(out, Op.APPENDS, items, emit);
}

function inBatches<T>(
  out: PickleEmitter,
  end: number,
  items: Iterable<T>,
  emit: (item: T) => void,
): void {
  let count = 0;
  for (const item of items) {
    if (count % BATCH === 0) {
      if (count > 0) out.op(end);
      out.op(Op.MARK);
    }
    emit(item);
    count++;
  }
  if (count > 0) out.op(end);
}

function pickleJson(out: PickleEmitter, value: JsonValue): void {
  if (value === null) out.op(Op.NONE);
  else if (typeof value === "boolean") {
    out.op(value ? Op.NEWTRUE : Op.NEWFALSE);
  } else if (typeof value === "string") out.text(value);
  else if (typeof value === "bigint") out.int(value);
  else if (typeof value === "number") {
    const isInt = Number.isSafeInteger(value) && !Object.is(value, -0);
    if (isInt) out.int(value);
    else out.float(value);
  } else if (Array.isArray(value)) {
    list(out, value, (item) => pickleJson(out, item));
  } else {
    out.op(Op.EMPTY_DICT);
    inBatches(out, Op.SETITEMS, Object.entries(value), ([key, item]) => {
      out.text(key);
      pickleJson(out, item);
    });
  }
}
