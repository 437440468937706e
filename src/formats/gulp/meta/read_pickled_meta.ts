import {
  type AllowedClasses,
  type ClassRole,
  ORDERED_DICT,
} from "../../../codecs/pickle/class_roles.ts";
import { PickledJson } from "../../../codecs/pickle/json_text.ts";
import {
  PickleMachine,
  type PicklePlaces,
} from "../../../codecs/pickle/machine.ts";
import { Tag, type ValueColumns } from "../../../codecs/pickle/columns.ts";
import { encodeId } from "../ids/id_text.ts";
import { MetaBuilder, type MetaPlace, VideoFault } from "./meta_columns.ts";

/** Classes in the pickles of both original libraries; their names differ between Python 2 and 3. */
const GULP_CLASSES: AllowedClasses = new Map<string, ClassRole>([
  ...ORDERED_DICT,
  ["gulpio.fileio.ImgInfo", "triple"],
  ["gulpio2.fileio.ImgInfo", "triple"],
  ["copy_reg._reconstructor", "reconstructor"],
  ["copyreg._reconstructor", "reconstructor"],
  ["__builtin__.tuple", "tuple"],
  ["builtins.tuple", "tuple"],
]);

/** Approximate lower limit of pickle bytes per frame. */
const BYTES_PER_FRAME = 16;

/** Upper limit of visits per item of a pickle, on average. */
const MOST_VISITS = 16;

/** A `.gmeta` read from another form than JSON. */
export interface MetaWithText {
  readonly builder: MetaBuilder;
  /** meta_data of all videos as JSON, in which the builder's locations lie. */
  readonly text: Uint8Array;
}

/** Locations in a pickled `.gmeta` where its lists can be extended; filled by {@linkcode readPickledMeta}. */
export class PickledLists {
  readonly places: PicklePlaces = {
    protocol: 0,
    frames: [],
    lists: new Map(),
    stop: 0,
  };
  /** Numbers of each video's containers in `places`, which has locations only for lists. */
  readonly ofVideo: Map<
    string,
    { readonly frameInfo: number; readonly metaData: number }
  > = new Map();
  /** Number of videos that share a list. */
  readonly uses: Map<number, number> = new Map();
}

/**
 * Reads a pickled `.gmeta` (the original libraries' `PickleSerializer`) without executing anything. Fills `lists` with
 * the locations for additions. Throws PickleError if it is damaged, or requests more than data and `ImgInfo` tuples.
 */
export function readPickledMeta(
  bytes: Uint8Array,
  lists?: PickledLists,
): MetaWithText {
  const machine = new PickleMachine(bytes, GULP_CLASSES, lists?.places);
  const stack = machine.run();
  const last = stack.length - 1;
  if (stack.tags[last] !== Tag.DICT) {
    machine.fail("it holds no dict");
  }
  return new PickledMetaReader(machine, lists).read(stack.a[last]!);
}

class PickledMetaReader {
  readonly #machine: PickleMachine;
  readonly #items: ValueColumns;
  readonly #builder: MetaBuilder;
  readonly #json: PickledJson;
  /** Location of the text of dicts already written, which videos may share. */
  readonly #written = new Map<number, { start: number; length: number }>();
  readonly #lists: PickledLists | undefined;
  #visited = 0;

  constructor(machine: PickleMachine, lists: PickledLists | undefined) {
    this.#lists = lists;
    this.#machine = machine;
    this.#items = machine.containers.items;
    this.#builder = new MetaBuilder(
      Math.floor(machine.bytes.length / BYTES_PER_FRAME),
    );
    this.#json = new PickledJson(machine);
  }

  read(root: number): MetaWithText {
    this.#forEachItem(root, (key, value) => {
      const text = this.#id(key);
      const id = encodeId(text);
      this.#builder.beginVideo(id, 0, id.length);
      this.#video(text, value);
    });
    return { builder: this.#builder, text: this.#json.take() };
  }

  /** Calls `visit` with the rows of each key and value of a dict. */
  #forEachItem(
    container: number,
    visit: (key: number, value: number) => void,
  ): void {
    this.#machine.containers.forEachRun(container, (start, count) => {
      // A hostile pickle may reference one dict in many places at the cost of its bytes once.
      this.#visited += count;
      if (this.#visited > this.#items.length * MOST_VISITS) {
        this.#machine.fail("one dict is in too many places");
      }
      for (let row = start; row < start + count; row += 2) visit(row, row + 1);
    });
  }

  #id(row: number): string {
    const { tags, a } = this.#items;
    const text = this.#machine.text(this.#items, row);
    if (text !== undefined) return text;
    if (tags[row] === Tag.INT) return String(a[row]);
    this.#machine.fail("an id is neither a string nor an integer");
  }

  #video(id: string, row: number): void {
    const { tags, a } = this.#items;
    const { frames } = this.#builder;
    let firstFrame = frames.length;
    const place: MetaPlace = { start: 0, length: 0, listLength: 0, count: 0 };
    if (tags[row] !== Tag.DICT) {
      this.#builder.endVideo(firstFrame, place, VideoFault.NO_OBJECT);
      return;
    }
    let frameInfo = -1;
    let metaData = -1;
    this.#forEachItem(a[row]!, (key, value) => {
      const name = this.#machine.text(this.#items, key);
      if (name === "frame_info") frameInfo = value;
      else if (name === "meta_data") metaData = value;
    });
    this.#noteLists(id, frameInfo, metaData);
    let fault: number = VideoFault.NONE;
    if (!this.#metaData(metaData, place)) fault = VideoFault.NO_META_DATA;
    firstFrame = frames.length;
    if (this.#isSequence(frameInfo)) this.#frames(a[frameInfo]!);
    else fault = VideoFault.NO_FRAME_INFO;
    this.#builder.endVideo(firstFrame, place, fault);
  }

  #noteLists(id: string, frameInfoRow: number, metaDataRow: number): void {
    if (this.#lists === undefined) return;
    const listIn = (row: number) =>
      this.#isSequence(row) ? this.#items.a[row]! : -1;
    const [frameInfo, metaData] = [listIn(frameInfoRow), listIn(metaDataRow)];
    const { ofVideo, uses } = this.#lists;
    ofVideo.set(id, { frameInfo, metaData });
    for (const list of [frameInfo, metaData]) {
      uses.set(list, (uses.get(list) ?? 0) + 1);
    }
  }

  #isSequence(row: number): boolean {
    const tag = this.#items.tags[row];
    return row >= 0 && (tag === Tag.LIST || tag === Tag.TUPLE);
  }

  #frames(container: number): void {
    const { frames } = this.#builder;
    this.#machine.containers.forEachRun(container, (start, count) => {
      // A hostile pickle may reference one list of frames in many videos at the cost of its bytes once.
      if (frames.length + count > this.#machine.bytes.length) {
        this.#machine.fail("it has more frames than bytes");
      }
      for (let row = start; row < start + count; row++) this.#frame(row);
    });
  }

  #frame(row: number): void {
    const rows = this.#isSequence(row)
      ? this.#machine.containers.rowsOf(this.#items.a[row]!, 4)
      : [];
    const numbers = rows.map((item) => this.#integer(item))
      .filter((number) => number !== undefined);
    this.#builder.frames.pushList(rows.length, numbers);
  }

  #integer(row: number): number | undefined {
    const { tags, a } = this.#items;
    if (tags[row] === Tag.INT) return a[row]!;
    const side = tags[row] === Tag.SIDE
      ? this.#machine.side[a[row]!]
      : undefined;
    return typeof side === "bigint" ? Number(side) : undefined;
  }

  /** Writes meta_data as JSON; returns whether its first item is a dict. */
  #metaData(list: number, place: MetaPlace): boolean {
    if (!this.#isSequence(list)) return false;
    const { tags, a } = this.#items;
    const json = this.#json;
    const rows = this.#machine.containers.rowsOf(a[list]!);
    const [first] = rows;
    if (first === undefined) return false;
    place.count = rows.length;
    const isDict = tags[first] === Tag.DICT;
    const before = this.#written.get(a[first]!);
    if (isDict && rows.length === 1 && before !== undefined) {
      Object.assign(place, { ...before, listLength: before.length });
      return true;
    }
    place.start = json.length;
    rows.forEach((row, i) => {
      if (i > 0) json.write(", ");
      json.append(this.#items, row);
      if (i === 0) place.length = json.length - place.start;
    });
    place.listLength = json.length - place.start;
    const { start, length } = place;
    if (isDict) this.#written.set(a[first]!, { start, length });
    return isDict;
  }
}
