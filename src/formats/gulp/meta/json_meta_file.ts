import { inserted, type Insertion } from "../../../codecs/insertions.ts";
import { formatString } from "../../../codecs/json/format.ts";
import {
  endOfObject,
  insertItems,
  type JsonEnd,
  skipToEndOfList,
} from "../../../codecs/json/insert_items.ts";
import {
  Byte,
  JsonScanner,
  withSentinel,
} from "../../../codecs/json/scanner.ts";
import { decodeText, parsePlainJson } from "../../../codecs/json/value.ts";
import type { AddedVideo, MetaFile } from "./meta_file.ts";

const utf8 = new TextEncoder();

/** A `.gmeta` that is JSON. New text is as Python's `json.dump` writes it. */
export class JsonMetaFile implements MetaFile {
  readonly #bytes: Uint8Array;

  /** @param bytes A file that was read as one; a new one where not given. */
  constructor(bytes: Uint8Array = utf8.encode("{}")) {
    this.#bytes = bytes;
  }

  requireRoom(): void {}

  with(added: ReadonlyMap<string, AddedVideo>): Uint8Array {
    const known = new Map([...added].filter(([, { isKnown }]) => isKnown));
    const fresh = [...added].filter(([, { isKnown }]) => !isKnown);
    const insertions = known.size > 0 ? this.#additions(known) : [];
    const videos = fresh.map(([id, video]) =>
      `${formatString(id)}: {"frame_info": [${framesOf(video)}], ` +
      `"meta_data": [${video.metaData.join(", ")}]}`
    );
    insertions.push(insertItems(endOfObject(this.#bytes), videos));
    return inserted(this.#bytes, insertions);
  }

  /** What goes behind that which the file says of videos. */
  #additions(known: ReadonlyMap<string, AddedVideo>): Insertion[] {
    const scanner = new JsonScanner(withSentinel(this.#bytes));
    // A key that comes again counts: it replaces what was found.
    const found = new Map<string, ReturnType<typeof listsOfVideo>>();
    scanner.peek();
    if (scanner.enter(Byte.CLOSE_OBJECT)) {
      do {
        const id = readKey(scanner);
        if (known.has(id)) found.set(id, listsOfVideo(scanner));
        else scanner.skipValue();
      } while (scanner.next(Byte.CLOSE_OBJECT));
    }
    return [...known].flatMap(([id, video]) => {
      const { frameInfo, metaData } = found.get(id)!;
      return [
        insertItems(
          frameInfo!,
          [framesOf(video)].filter((text) => text !== ""),
        ),
        insertItems(metaData!, video.metaData),
      ];
    });
  }
}

function framesOf(video: AddedVideo): string {
  return Array.from(video.frameInfo(), (frame) => `[${frame.join(", ")}]`)
    .join(", ");
}

function readKey(scanner: JsonScanner): string {
  scanner.peek();
  const start = scanner.position;
  scanner.skipString();
  const token = scanner.bytes.subarray(start, scanner.position);
  scanner.expect(Byte.COLON);
  return parsePlainJson(decodeText(token)) as string;
}

/** Moves over the entry of a video, which is sound, and finds its lists. */
function listsOfVideo(scanner: JsonScanner) {
  let frameInfo: JsonEnd | undefined;
  let metaData: JsonEnd | undefined;
  scanner.peek();
  if (scanner.enter(Byte.CLOSE_OBJECT)) {
    do {
      const key = readKey(scanner);
      if (key === "frame_info") frameInfo = skipToEndOfList(scanner);
      else if (key === "meta_data") metaData = skipToEndOfList(scanner);
      else scanner.skipValue();
    } while (scanner.next(Byte.CLOSE_OBJECT));
  }
  return { frameInfo, metaData };
}
