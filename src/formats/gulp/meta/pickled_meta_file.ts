import { inserted, type Insertion } from "../../../codecs/insertions.ts";
import { type ExactJson, parseExactJson } from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { Op } from "../../../codecs/pickle/opcodes.ts";
import { PickleEmitter } from "../../../codecs/pickle/pickle_emitter.ts";
import { FormatError } from "../../../base/errors.ts";
import { shownId } from "../check/faults.ts";
import { type AddedVideo, frameInfoOf, type MetaFile } from "./meta_file.ts";
import type { PickledLists } from "./read_pickled_meta.ts";

/** Batch size in which Python's pickler appends items to a container. */
const BATCH = 1000;

/** Bytes of the opcode FRAME and the size of the frame. */
const FRAME_HEAD = 9;

/**
 * Returns a pickled `.gmeta`. Existing content stays as it was pickled, opcode by opcode; additions go to the end of
 * its complete lists, and to the end of its dict. New videos are `OrderedDict`s with lists, and plain tuples for
 * frames: the class of frames in each original library is named after its package, so that the other library could not
 * read it.
 */
export function pickledMetaFile(
  path: string,
  bytes: Uint8Array,
  { places, ofVideo, uses }: PickledLists,
): MetaFile {
  const insertion = (
    at: number,
    emit: (out: PickleEmitter) => void,
  ): Insertion => {
    const out = new PickleEmitter(places.protocol);
    emit(out);
    return { at, bytes: out.take() };
  };
  return {
    requireRoom(id) {
      const { frameInfo, metaData } = ofVideo.get(id)!;
      const lists = { "frame_info": frameInfo, "meta_data": metaData };
      for (const [name, list] of Object.entries(lists)) {
        const isShared = (uses.get(list) ?? 0) > 1;
        if (places.lists.has(list) && !isShared) continue;
        const what = isShared ? "that of another one too" : "no list";
        throw new FormatError(
          "bad-meta",
          `Cannot append to the video ${shownId(id)} of ${path}: its ${name} ` +
            `is ${what}`,
          { path },
        );
      }
    },
    with(known, fresh) {
      const insertions = [...known].flatMap(([id, video]) => {
        const lists = ofVideo.get(id)!;
        const [frameInfo, metaData] = [lists.frameInfo, lists.metaData]
          .map((list) => places.lists.get(list)!);
        return [
          insertion(frameInfo!, (out) => addFrames(out, video)),
          insertion(metaData!, (out) => addMetaData(out, video)),
        ];
      });
      insertions.push(
        insertion(
          places.stop,
          (out) =>
            inBatches(out, Op.SETITEMS, fresh, ([id, video]) => {
              out.text(id);
              pickleVideo(out, video);
            }),
        ),
      );
      return inserted(withFrames(bytes, places.frames, insertions), insertions);
    },
  };
}

/** Returns a copy of the pickle whose frames have their sizes after the insertions. */
function withFrames(
  pickle: Uint8Array,
  frames: readonly number[],
  insertions: readonly Insertion[],
): Uint8Array {
  const bytes = pickle.slice();
  const view = new DataView(bytes.buffer);
  for (const frame of frames) {
    const start = frame + FRAME_HEAD;
    const size = Number(view.getBigUint64(frame + 1, true));
    const more = insertions
      .filter(({ at }) => at >= start && at <= start + size)
      .reduce((sum, { bytes }) => sum + bytes.length, 0);
    view.setBigUint64(frame + 1, BigInt(size + more), true);
  }
  return bytes;
}

/** Returns the pickle of an empty `OrderedDict`. */
export function emptyPickle(): Uint8Array {
  const out = new PickleEmitter();
  makeDict(out);
  out.op(Op.STOP);
  return out.take();
}

function pickleVideo(out: PickleEmitter, video: AddedVideo): void {
  makeDict(out);
  out.op(Op.MARK);
  out.text("frame_info");
  out.op(Op.EMPTY_LIST);
  addFrames(out, video);
  out.text("meta_data");
  out.op(Op.EMPTY_LIST);
  addMetaData(out, video);
  out.op(Op.SETITEMS);
}

/** Names the class each time, since the numbers in the pickle's memo depend on its writer. */
function makeDict(out: PickleEmitter): void {
  out.global("collections", "OrderedDict");
  out.op(Op.EMPTY_TUPLE);
  out.op(Op.REDUCE);
}

/** Adds the frames to the list on top of the stack. */
function addFrames(out: PickleEmitter, video: AddedVideo): void {
  inBatches(out, Op.APPENDS, frameInfoOf(video), (frame) => {
    for (const number of frame) out.int(number);
    out.op(Op.TUPLE3);
  });
}

/** Adds the items of meta_data to the list on top of the stack. */
function addMetaData(out: PickleEmitter, video: AddedVideo): void {
  inBatches(
    out,
    Op.APPENDS,
    video.metaData,
    (text) => pickleJson(out, parseExactJson(text)),
  );
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

function pickleJson(out: PickleEmitter, value: ExactJson): void {
  if (value === null) out.op(Op.NONE);
  else if (typeof value === "boolean") {
    out.op(value ? Op.NEWTRUE : Op.NEWFALSE);
  } else if (typeof value === "string") out.text(value);
  else if (typeof value === "bigint") out.int(value);
  else if (typeof value === "number") {
    const isInt = Number.isSafeInteger(value) && !Object.is(value, -0);
    if (isInt) out.int(value);
    else out.float(value);
  } else if (value instanceof MsgpackFloat) out.float(value.value);
  else if (Array.isArray(value)) {
    out.op(Op.EMPTY_LIST);
    inBatches(out, Op.APPENDS, value, (item) => pickleJson(out, item));
  } else {
    const entries = value instanceof Map ? value : Object.entries(value);
    out.op(Op.EMPTY_DICT);
    inBatches(out, Op.SETITEMS, entries, ([key, item]) => {
      out.text(key);
      pickleJson(out, item);
    });
  }
}
