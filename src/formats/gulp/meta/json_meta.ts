import { isUtf8 } from "node:buffer";
import { inserted, type Insertion } from "../../../codecs/insertions.ts";
import { formatJson, formatString } from "../../../codecs/json/format.ts";
import {
  endOfObject,
  insertItems,
  type JsonEnd,
  skipToEndOfList,
} from "../../../codecs/json/insert_items.ts";
import { readKey } from "../../../codecs/json/parts.ts";
import {
  Byte,
  JsonError,
  JsonScanner,
  withSentinel,
} from "../../../codecs/json/scanner.ts";
import { parseJson } from "../../../codecs/json/value.ts";
import { encodeId } from "../ids/id_text.ts";
import {
  type FrameColumns,
  FrameFault,
  MetaBuilder,
  type MetaPlace,
  VideoFault,
} from "./meta_columns.ts";
import { type AddedVideos, frameInfoOf, type MetaFile } from "./meta_file.ts";
import type { FrameInfo } from "./serializer.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Bytes of text that a frame takes, roughly: `[123456789, 2, 25000], `. */
const BYTES_PER_FRAME = 16;

/** Integers of up to 15 digits are exact whatever the digits are. */
const EXACT_DIGITS = 15;

const FRAME_INFO = new TextEncoder().encode("frame_info");
const META_DATA = new TextEncoder().encode("meta_data");

/**
 * Reads a `.gmeta` that is JSON: `id -> {"frame_info": [[loc, pad, length], …], "meta_data": […]}`.
 *
 * The whole text is checked, and what is wrong with single videos and frames is noted in the columns.
 *
 * @param text The file and a zero byte behind it.
 * @throws {JsonError} If the text is no JSON, or no object.
 */
export function readJsonMeta(text: Uint8Array): MetaBuilder {
  const scanner = new JsonScanner(text);
  const builder = new MetaBuilder(Math.floor(text.length / BYTES_PER_FRAME));
  if (scanner.peek() === 0xef) scanner.fail("it starts with a byte order mark");
  if (scanner.peek() !== Byte.OPEN_OBJECT) {
    scanner.skipValue();
    scanner.finish();
    throw new JsonError(0, "it holds no object of videos");
  }
  scanner.pass(Byte.CLOSE_OBJECT, () => {
    beginVideo(scanner, builder);
    scanner.expect(Byte.COLON);
    readVideo(scanner, builder);
  });
  scanner.finish();
  if (scanner.beyondAscii && !isUtf8(text)) {
    throw new JsonError(0, "its text is not UTF-8");
  }
  return builder;
}

function beginVideo(scanner: JsonScanner, builder: MetaBuilder): void {
  const { bytes } = scanner;
  scanner.peek();
  const start = scanner.position;
  scanner.skipString();
  const end = scanner.position;
  if (!scanner.escaped) return builder.beginVideo(bytes, start + 1, end - 1);
  const id = encodeId(textOf(bytes, start, end));
  builder.beginVideo(id, 0, id.length);
}

/** The string of a token. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  const token = utf8Text(bytes.subarray(start, end));
  return parseJson(token) as string;
}

/** Reads the value of an id. A key that comes again counts, as in Python. */
function readVideo(scanner: JsonScanner, builder: MetaBuilder): void {
  const { frames } = builder;
  let firstFrame = frames.length;
  let hasFrames = false;
  const place: MetaPlace = { start: 0, length: 0, listLength: 0, count: 0 };
  if (scanner.peek() !== Byte.OPEN_OBJECT) {
    scanner.skipValue();
    return builder.endVideo(firstFrame, place, VideoFault.NO_OBJECT);
  }
  let hasMeta = false;
  scanner.pass(Byte.CLOSE_OBJECT, () => {
    scanner.peek();
    const start = scanner.position;
    scanner.skipString();
    const end = scanner.position;
    scanner.expect(Byte.COLON);
    const key = knownKey(scanner, start, end);
    const isList = scanner.peek() === Byte.OPEN_LIST;
    if (key === FRAME_INFO) {
      firstFrame = frames.length;
      hasFrames = isList;
      if (isList) readFrames(scanner, frames);
      else scanner.skipValue();
    } else if (key === META_DATA) {
      hasMeta = isList && readMetaData(scanner, place);
      if (!isList) scanner.skipValue();
    } else scanner.skipValue();
  });
  builder.endVideo(
    firstFrame,
    place,
    !hasFrames
      ? VideoFault.NO_FRAME_INFO
      : hasMeta
      ? VideoFault.NONE
      : VideoFault.NO_META_DATA,
  );
}

/** Which of the two keys the string token `start … end` is. */
function knownKey(
  { bytes, escaped }: JsonScanner,
  start: number,
  end: number,
): Uint8Array | undefined {
  const key = escaped
    ? encodeId(textOf(bytes, start, end))
    : bytes.subarray(start + 1, end - 1);
  return [FRAME_INFO, META_DATA].find((known) =>
    key.length === known.length && known.every((byte, i) => key[i] === byte)
  );
}

/** Notes where the items of `meta_data` lie; tells whether the first is an object. */
function readMetaData(scanner: JsonScanner, place: MetaPlace): boolean {
  place.count = 0;
  place.length = 0;
  place.listLength = 0;
  let isObject = false;
  scanner.pass(Byte.CLOSE_LIST, () => {
    const byte = scanner.peek();
    if (place.count++ === 0) {
      isObject = byte === Byte.OPEN_OBJECT;
      place.start = scanner.position;
    }
    scanner.skipValue();
    place.listLength = scanner.position - place.start;
    if (place.count === 1) place.length = place.listLength;
  });
  return isObject;
}

/** Reads `frame_info`: almost all there is of a `.gmeta`. */
function readFrames(scanner: JsonScanner, frames: FrameColumns): void {
  scanner.pass(Byte.CLOSE_LIST, () => {
    if (scanner.peek() !== Byte.OPEN_LIST) {
      scanner.skipValue();
      frames.pushFault(FrameFault.NO_TRIPLE);
    } else {
      const another = readPlainTriples(scanner, frames);
      if (another) readAnyTriple(scanner, frames);
    }
  });
}

/**
 * Reads triples of integers without a sign as long as they come, with one blank or none between the
 * marks, as `json.dump` writes them. This loop is where opening spends its time.
 *
 * @returns Whether it stopped in front of another list; otherwise behind the last triple.
 */
function readPlainTriples(scanner: JsonScanner, frames: FrameColumns): boolean {
  const { bytes } = scanner;
  let at = scanner.position;
  for (;;) {
    const loc = at + 1;
    const locEnd = endOfDigits(bytes, loc);
    const pad = locEnd + (bytes[locEnd + 1] === 0x20 ? 2 : 1);
    const padEnd = endOfDigits(bytes, pad);
    const length = padEnd + (bytes[padEnd + 1] === 0x20 ? 2 : 1);
    const end = endOfDigits(bytes, length);
    const isPlain = isExact(bytes, loc, locEnd) &&
      isExact(bytes, pad, padEnd) && isExact(bytes, length, end) &&
      bytes[locEnd] === Byte.COMMA && bytes[padEnd] === Byte.COMMA &&
      bytes[end] === Byte.CLOSE_LIST;
    if (!isPlain) {
      scanner.position = at;
      return true;
    }
    frames.push(
      valueOf(bytes, loc, locEnd),
      valueOf(bytes, pad, padEnd),
      valueOf(bytes, length, end),
    );
    scanner.position = end + 1;
    if (bytes[end + 1] !== Byte.COMMA) return false;
    at = end + (bytes[end + 2] === 0x20 ? 3 : 2);
    if (bytes[at] !== Byte.OPEN_LIST) return false;
  }
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++; // undefined behind the end
  return at;
}

/** Whether digits are an integer as JSON writes it, and one that a double holds whatever it is. */
function isExact(bytes: Uint8Array, start: number, end: number): boolean {
  const digits = end - start;
  return digits === 1 ||
    digits > 1 && digits <= EXACT_DIGITS && bytes[start] !== Byte.ZERO;
}

/** The number that up to 18 digits are. */
function valueOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start <= 9) return smallValueOf(bytes, start, end);
  return smallValueOf(bytes, start, end - 9) * 1e9 +
    smallValueOf(bytes, end - 9, end);
}

/** The number that up to 9 digits are: arithmetic with 32-bit integers is far faster. */
function smallValueOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    value = value * 10 + bytes[at]! - Byte.ZERO | 0;
  }
  return value;
}

/** Reads one entry of `frame_info`, a list of whatever. */
function readAnyTriple(scanner: JsonScanner, frames: FrameColumns): void {
  const { bytes } = scanner;
  const numbers: number[] = [];
  let items = 0;
  scanner.pass(Byte.CLOSE_LIST, () => {
    const byte = scanner.peek();
    items++;
    const start = scanner.position;
    const isNumber = byte >= 0x30 && byte <= 0x39 ||
      byte === Byte.MINUS && bytes[start + 1] !== 0x49; // -Infinity
    if (!isNumber) scanner.skipValue();
    else if (scanner.skipNumber() && items <= 3) {
      const digits = bytes.subarray(start, scanner.position);
      numbers.push(Number(utf8Text(digits)));
    }
  });
  frames.pushList(items, numbers);
}

/**
 * A `.gmeta` that is JSON, to which videos are added. New text is as Python's `json.dump` writes it.
 *
 * @param bytes A file that was read as one; a new one where not given.
 */
export function jsonMetaFile(
  bytes: Uint8Array = new TextEncoder().encode("{}"),
): MetaFile {
  return {
    with(known, fresh) {
      const insertions = known.size > 0 ? additions(bytes, known) : [];
      const videos = Array.from(
        fresh,
        ([id, video]) => formatVideo(id, frameInfoOf(video), video.metaData),
      );
      insertions.push(insertItems(endOfObject(bytes), videos));
      return inserted(bytes, insertions);
    },
  };
}

/** What goes behind that which a file says of videos. */
function additions(bytes: Uint8Array, known: AddedVideos): Insertion[] {
  const scanner = new JsonScanner(withSentinel(bytes));
  // A key that comes again counts: it replaces what was found.
  const found = new Map<string, ReturnType<typeof listsOfVideo>>();
  scanner.peek();
  scanner.pass(Byte.CLOSE_OBJECT, () => {
    const id = readKey(scanner);
    if (known.has(id)) found.set(id, listsOfVideo(scanner));
    else scanner.skipValue();
  });
  return [...known].flatMap(([id, video]) => {
    const { frameInfo, metaData } = found.get(id)!;
    const frames = formatFrames(frameInfoOf(video));
    return [
      insertItems(frameInfo!, frames === "" ? [] : [frames]),
      insertItems(metaData!, video.metaData),
    ];
  });
}

/** The entry of a video as JSON, its id in front. */
export function formatVideo(
  id: string,
  frameInfo: Iterable<FrameInfo>,
  metaData: readonly string[],
): string {
  return `${formatString(id)}: {"frame_info": [${formatFrames(frameInfo)}], ` +
    `"meta_data": [${metaData.join(", ")}]}`;
}

function formatFrames(frameInfo: Iterable<FrameInfo>): string {
  return Array.from(frameInfo, (frame) => formatJson([...frame])).join(", ");
}

/** Moves over the entry of a video, which is sound, and finds its lists. */
function listsOfVideo(scanner: JsonScanner) {
  let frameInfo: JsonEnd | undefined;
  let metaData: JsonEnd | undefined;
  scanner.peek();
  scanner.pass(Byte.CLOSE_OBJECT, () => {
    const key = readKey(scanner);
    if (key === "frame_info") frameInfo = skipToEndOfList(scanner);
    else if (key === "meta_data") metaData = skipToEndOfList(scanner);
    else scanner.skipValue();
  });
  return { frameInfo, metaData };
}
