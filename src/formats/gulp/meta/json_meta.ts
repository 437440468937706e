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

/** Approximate bytes of text per frame: `[123456789, 2, 25000], `. */
const BYTES_PER_FRAME = 16;

/** A double represents any integer of up to 15 digits exactly. */
const EXACT_DIGITS = 15;

const FRAME_INFO = new TextEncoder().encode("frame_info");
const META_DATA = new TextEncoder().encode("meta_data");

/**
 * Reads a JSON `.gmeta`: `id -> {"frame_info": [[loc, pad, length], …], "meta_data": […]}`.
 *
 * Checks the whole text; records faults of single videos and frames in the columns.
 *
 * @param text The file, followed by a zero byte.
 * @throws {JsonError} If the text is not JSON, or not an object.
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

function textOf(bytes: Uint8Array, start: number, end: number): string {
  const token = utf8Text(bytes.subarray(start, end));
  return parseJson(token) as string;
}

/** Reads the value of an id. The last of repeated keys wins, as in Python. */
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

/** Returns which of the two keys the string token `start … end` is. */
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

/** Records the location of the items of `meta_data`; returns whether the first is an object. */
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

/** Reads `frame_info`, which is almost all of a `.gmeta`. */
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
 * Reads consecutive triples of unsigned integers, with one blank or none after commas, as `json.dump` writes them: most
 * of the time for opening is spent in this loop. Returns whether it stopped before another list; otherwise, it stopped
 * after the last triple.
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
  while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++; // undefined past the end
  return at;
}

/** Whether the digits are a JSON integer that a double represents exactly. */
function isExact(bytes: Uint8Array, start: number, end: number): boolean {
  const digits = end - start;
  return digits === 1 ||
    digits > 1 && digits <= EXACT_DIGITS && bytes[start] !== Byte.ZERO;
}

/** Parses up to 18 digits. */
function valueOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start <= 9) return smallValueOf(bytes, start, end);
  return smallValueOf(bytes, start, end - 9) * 1e9 +
    smallValueOf(bytes, end - 9, end);
}

/** Parses up to 9 digits: arithmetic with 32-bit integers is far faster. */
function smallValueOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    value = value * 10 + bytes[at]! - Byte.ZERO | 0;
  }
  return value;
}

/** Reads one entry of `frame_info`, a list of any values. */
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

/** Returns a JSON `.gmeta`, new by default, for additions. New text is formatted as by Python's `json.dump`. */
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

/** Returns the insertions that extend existing videos. */
function additions(bytes: Uint8Array, known: AddedVideos): Insertion[] {
  const scanner = new JsonScanner(withSentinel(bytes));
  // The last of repeated keys wins.
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

/** Formats the entry of a video as JSON, with its id first. */
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

/** Skips the entry of a sound video, and returns the ends of its lists. */
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
