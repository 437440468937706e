import { readMsgpack } from "../../codecs/msgpack/mod.ts";
import { type NdArray, readNpy } from "../../codecs/numpy/mod.ts";
import { readPickle } from "../../codecs/pickle/read_pickle.ts";
import { FormatError } from "../../errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../names.ts";
import type { NodeView } from "../../tree/node_view.ts";
import { newStat, type NodeId } from "../../tree/tree.ts";
import { isText } from "../files/content_type.ts";
import { type Contents, SMALL } from "../files/content.ts";
import { headOf } from "../head_of.ts";
import { decodePath } from "../paths.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import { arrayValue } from "./array_value.ts";
import { Displayed, WHOLE } from "./display.ts";
import { isOfValue, kindOf, viewOf } from "./kinds.ts";
import type { Kind } from "./messages.ts";
import { npzValue } from "./npz.ts";
import type { Query } from "./query.ts";
import { tableValue } from "./table_value.ts";
import type {
  BytesValue,
  TextValue,
  TreeValue,
  ValueMessage,
} from "./value_messages.ts";

/** Bytes of text and of others on a page. */
const PAGE = 65_536;
/** Numbers of an array, unless fewer are wanted. */
const MOST_NUMBERS = 65_536;
/** Bytes of what becomes objects, and of arrays, that are decoded at most. */
const LARGEST_TREE = 16 << 20;
const LARGEST_ARRAY = 64 << 20;

/** A file that is to be shown. */
interface Shown {
  readonly node: NodeId;
  readonly name: string;
  readonly size: number;
  readonly offset: number;
  readonly most: number;
}

/** `api/value`: decoded values. */
export class Values {
  readonly #served: Served;
  readonly #contents: Contents;

  constructor(served: Served, contents: Contents) {
    this.#served = served;
    this.#contents = contents;
  }

  /** Answers a question for a value. What can't be decoded is bytes, with the reason. */
  *answer(query: Query): Steps<ValueMessage> {
    const served = this.#served;
    const node = yield* served.get(query.path);
    if (yield* served.isDirectory(node)) {
      throw new ServeError(
        "is-directory",
        "It is a directory: its entries are values",
      );
    }
    const name = decodeName(decodePath(query.path).at(-1)!);
    const { size } = yield* served.stat(node, newStat());
    const shown: Shown = {
      ...{ node, name, size },
      offset: query.number("offset") ?? 0,
      most: query.number("most", MOST_NUMBERS) ?? MOST_NUMBERS,
    };
    const as = query.text("as");
    if (as === "bytes") return yield* this.#bytes(shown, null);
    if (as === "text") return yield* this.#text(shown);
    const view = yield* viewOf(served, node);
    const kind = yield* kindOf(served, node, name, false, view);
    try {
      return yield* this.#decoded(shown, kind, view);
    } catch (error) {
      if (error instanceof ServeError || error instanceof FormatError) {
        throw error;
      }
      if (!isOfValue(error)) throw error;
      return yield* this.#bytes(shown, error.message.slice(0, 1000));
    }
  }

  *#decoded(
    shown: Shown,
    kind: Kind,
    view: NodeView | undefined,
  ): Steps<ValueMessage> {
    const { node, name, size, offset, most } = shown;
    if (
      view?.kind === "value" && ["array", "number", "tree"].includes(view.holds)
    ) {
      const bytes = yield* this.#whole(shown, view.largest);
      const value = yield* waitFor(() => view.decode(bytes));
      if (view.holds === "array") return arrayValue(value as NdArray, most);
      return treeValue(value, view.type);
    }
    switch (kind) {
      case "array": {
        const bytes = yield* this.#whole(shown, LARGEST_ARRAY);
        return /\.npz$/i.test(name)
          ? npzValue(bytes, most)
          : arrayValue(readNpy(bytes), most);
      }
      case "msgpack":
        return treeValue(
          readMsgpack(yield* this.#whole(shown, LARGEST_TREE)),
          "msgpack",
        );
      case "pickle":
        return treeValue(
          readPickle(yield* this.#whole(shown, LARGEST_TREE)),
          "pickle",
        );
      case "json":
        if (size > LARGEST_TREE) return yield* this.#text(shown);
        return yield* this.#json(shown);
    }
    // Compared with its checksum where it is small, as what is decoded is: what is damaged shows if it is asked for as text
    // or bytes.
    if (offset === 0 && size <= SMALL) yield* this.#whole(shown, SMALL);
    switch (kind) {
      case "csv":
        return yield* tableValue(this.#served, node, name, size, offset);
      case "html":
      case "text":
        return yield* this.#text(shown);
      default:
        return yield* this.#bytes(shown, null);
    }
  }

  *#json(shown: Shown): Steps<ValueMessage> {
    const bytes = yield* this.#whole(shown, LARGEST_TREE);
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return treeValue(parseJson(text), "json");
    } catch {
      return yield* this.#text(shown); // NDJSON, and what only looks like JSON
    }
  }

  /** A page of text, whose ends are between characters. */
  *#text(shown: Shown): Steps<TextValue | BytesValue> {
    const { node, size } = shown;
    const bytes = yield* headOf(this.#served, node, PAGE + 4, shown.offset);
    let from = 0;
    while (shown.offset > 0 && from < 4 && isContinuation(bytes[from])) from++;
    let to = Math.min(bytes.length, PAGE);
    const isLast = shown.offset + to >= size;
    while (!isLast && to > from && isContinuation(bytes[to])) to--;
    const part = bytes.subarray(from, to);
    if (!isText(part)) {
      return yield* this.#bytes(shown, "it is no text in UTF-8");
    }
    const end = shown.offset + to;
    return {
      kind: "text",
      text: new TextDecoder().decode(part),
      start: shown.offset + from,
      end,
      size,
      isCut: end < size,
    };
  }

  *#bytes(
    { node, size, offset }: Shown,
    why: string | null,
  ): Steps<BytesValue> {
    const bytes = yield* headOf(this.#served, node, PAGE, offset);
    return {
      kind: "bytes",
      base64: bytes.toBase64(),
      start: offset,
      size,
      why,
    };
  }

  /** All of a file, compared with its checksum. */
  *#whole(
    { node, size }: Shown,
    largest: number,
  ): Steps<Uint8Array<ArrayBuffer>> {
    if (size > largest) {
      throw new RangeError(
        `it has ${size} bytes, and up to ${largest} are decoded to be shown`,
      );
    }
    const extent = yield* this.#contents.locate(node);
    if (extent === undefined) {
      throw new ServeError("not-found", "It is no file");
    }
    const range = { start: 0, end: extent.length };
    return yield* this.#contents.read(node, extent, range);
  }
}

function treeValue(decoded: unknown, type: string): TreeValue {
  const { value, isCut } = new Displayed(decoded, WHOLE);
  return { kind: "tree", type, value, isCut };
}

/** JSON whose whole numbers are all exact. */
export function parseJson(text: string): unknown {
  // TypeScript's own description of `JSON.parse` does not know the third argument yet.
  const reviver = (
    _key: string,
    value: unknown,
    context?: { source?: string },
  ) =>
    typeof value === "number" && !Number.isSafeInteger(value) &&
      /^-?\d{1,1000}$/.test(context?.source ?? "")
      ? BigInt(context!.source!)
      : value;
  return JSON.parse(text, reviver);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
