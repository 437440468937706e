import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { type ElementType, product, readType } from "../values/types.ts";
import { type Cursor, NOWHERE } from "./metadata.ts";
import {
  type Message,
  MessageType,
  type ObjectReader,
} from "./object_header.ts";

/** Dimensions of a dataset, at most (`H5S_MAX_RANK`). */
const MOST_DIMENSIONS = 32;

/** Filter of a pipeline, in the order in which chunks were written. */
export interface Filter {
  readonly id: number;
  readonly values: readonly number[];
}

/** How the chunks of a dataset are found (IV.A.2.i, "Chunk Indexing Type"). */
export type ChunkIndex =
  | { readonly is: "tree" | "implicit" | "fixed" | "extensible" | "tree2" }
  /** One chunk, and its bytes if it is filtered. */
  | {
    readonly is: "single";
    readonly length: number | undefined;
    readonly mask: number;
  };

/** Where elements are. */
export type Layout =
  /** In other datasets, which an object of a global heap lists. */
  | {
    readonly is: "virtual";
    readonly address: number;
    readonly number: number;
  }
  | { readonly is: "range"; readonly address: number; readonly length: number }
  | {
    readonly is: "chunks";
    readonly address: number;
    readonly index: ChunkIndex;
    readonly shape: readonly number[];
    readonly filters: readonly Filter[];
    /** Whether chunks at the edges are not filtered. */
    readonly areEdgesPlain: boolean;
  };

/** Shape of a dataset or attribute: empty for a single value, `undefined` for none. */
export interface Space {
  readonly shape: readonly number[] | undefined;
  /** Largest lengths, of which some are `Infinity`. */
  readonly most: readonly number[];
}

/** A dataset as plain data. */
export interface Dataset extends Space {
  readonly type: ElementType;
  readonly layout: Layout;
  /** Value of elements that are not stored; zeros by default. */
  readonly fill: Uint8Array | undefined;
}

/** Reads the messages of a dataset. */
export function* readDataset(
  objects: ObjectReader,
  messages: readonly Message[],
): Steps<Dataset> {
  const find = (type: number) => objects.find(messages, type);
  const typeMessage = yield* find(MessageType.DATATYPE);
  const spaceMessage = yield* find(MessageType.DATASPACE);
  const layout = messages.find(({ type }) => type === MessageType.LAYOUT);
  if (!typeMessage || !spaceMessage || !layout) {
    throw new CellFault("lacks its type, shape or layout");
  }
  const type = readType(typeMessage);
  const space = readSpace(spaceMessage);
  const filters = readFilters(yield* find(MessageType.FILTERS));
  const fill = readFill(yield* find(MessageType.FILL)) ??
    readOldFill(yield* find(MessageType.OLD_FILL));
  if (fill !== undefined && fill.length !== type.size) {
    throw new CellFault("has a fill value of a wrong size");
  }
  return {
    ...space,
    type,
    fill: fill?.slice(),
    layout: readLayout(
      yield* objects.content(layout),
      layout.address,
      space.shape?.length ?? 0,
      type.size,
      filters,
    ),
  };
}

/** Reads a shape (IV.A.2.b). */
export function readSpace(cursor: Cursor): Space {
  const version = cursor.u8();
  const rank = cursor.u8();
  const hasMost = (cursor.u8() & 1) !== 0;
  const isNothing = cursor.u8() === 2 && version === 2;
  if (version === 1) cursor.skip(4);
  if (rank > MOST_DIMENSIONS || version < 1 || version > 2) {
    throw new CellFault("has a shape of a wrong form");
  }
  const lengths = () => Array.from({ length: rank }, () => cursor.length());
  const shape = lengths();
  const most = hasMost
    ? lengths().map((length) => length >= 2 ** 63 ? Infinity : length)
    : shape;
  return { shape: isNothing ? undefined : shape, most };
}

/** Reads how a fill value is set (IV.A.2.f). */
function readFill(cursor: Cursor | undefined): Uint8Array | undefined {
  if (cursor === undefined) return undefined;
  const version = cursor.u8();
  const isSet = version === 3
    ? (cursor.u8() & 0x20) !== 0
    : cursor.skip(2).u8() !== 0;
  return isSet ? readOldFill(cursor) : undefined;
}

function readOldFill(cursor: Cursor | undefined): Uint8Array | undefined {
  const length = cursor?.left ? cursor.u32() : 0;
  return length === 0 ? undefined : cursor!.take(length);
}

/** Reads a pipeline (IV.A.2.l). */
function readFilters(cursor: Cursor | undefined): Filter[] {
  if (cursor === undefined) return [];
  const version = cursor.u8();
  const count = cursor.u8();
  if (version === 1) cursor.skip(6);
  return Array.from({ length: count }, () => {
    const id = cursor.u16();
    const nameLength = version === 1 || id >= 256 ? cursor.u16() : 0;
    const values = cursor.skip(2).u16();
    cursor.skip(version === 1 ? Math.ceil(nameLength / 8) * 8 : nameLength);
    const filter = {
      id,
      values: Array.from({ length: values }, () => cursor.u32()),
    };
    if (version === 1 && values % 2 === 1) cursor.skip(4);
    return filter;
  });
}

const INDEXES = ["", "single", "implicit", "fixed", "extensible", "tree2"];

/** Reads where elements are (IV.A.2.i). */
function readLayout(
  cursor: Cursor,
  start: number,
  rank: number,
  item: number,
  filters: readonly Filter[],
): Layout {
  const version = cursor.u8();
  if (version < 1 || version > 5) throw new CellFault("has an unknown layout");
  const isOld = version < 3;
  const dimensions = isOld ? cursor.u8() : 0;
  const kind = cursor.u8();
  if (isOld) cursor.skip(5);
  if (kind === 3) {
    return { is: "virtual", address: cursor.offset(), number: cursor.u32() };
  }
  if (kind === 0) {
    if (isOld) cursor.skip(4 * dimensions);
    const length = isOld ? cursor.u32() : cursor.u16();
    return { is: "range", address: start + cursor.at, length };
  }
  if (kind === 1) {
    const address = cursor.offset();
    const length = isOld ? Infinity : cursor.length();
    return { is: "range", address, length };
  }
  if (kind !== 2) throw new CellFault("has an unknown layout");
  const flags = version < 4 ? 0 : cursor.u8();
  const count = isOld ? dimensions : cursor.u8();
  const width = version < 4 ? 4 : cursor.u8();
  const oldAddress = version < 4 ? cursor.offset() : NOWHERE;
  const lengths = Array.from({ length: count }, () => cursor.uint(width));
  const shape = lengths.slice(0, -1);
  if (
    shape.length !== rank || lengths.at(-1) !== item ||
    !(product(shape) > 0)
  ) {
    throw new CellFault("has chunks of a wrong shape");
  }
  const facts = {
    is: "chunks",
    shape,
    filters,
    areEdgesPlain: (flags & 1) !== 0,
  } as const;
  if (version < 4) {
    return { ...facts, address: oldAddress, index: { is: "tree" } };
  }
  const is = INDEXES[cursor.u8()];
  switch (is) {
    case "single": {
      const isFiltered = (flags & 2) !== 0;
      const length = isFiltered ? cursor.length() : undefined;
      const mask = isFiltered ? cursor.u32() : 0;
      return {
        ...facts,
        index: { is, length, mask },
        address: cursor.offset(),
      };
    }
    case "implicit":
      break;
    case "fixed":
      cursor.skip(1);
      break;
    case "extensible":
      cursor.skip(5);
      break;
    case "tree2":
      cursor.skip(6);
      break;
    default:
      throw new CellFault("has an unknown index of chunks", "unsupported");
  }
  return { ...facts, index: { is }, address: cursor.offset() };
}

/** Whether a dataset is stored nowhere: all its elements are the fill value. */
export function isUnallocated({ layout }: Dataset): boolean {
  return layout.address === NOWHERE;
}

/** Returns the bytes of a dataset's elements. */
export function bytesOf(
  { shape, type }: Pick<Dataset, "shape" | "type">,
): number {
  return shape === undefined ? 0 : product(shape) * type.size;
}

/** Attribute of an object: its name, type and shape, and its values as they are stored. */
export interface Attribute extends Space {
  readonly name: string;
  readonly type: ElementType;
  readonly bytes: Uint8Array;
}

/** Reads an attribute (IV.A.2.m). */
export function* readAttribute(
  objects: ObjectReader,
  cursor: Cursor,
): Steps<Attribute> {
  const version = cursor.u8();
  if (version < 1 || version > 3) {
    throw new CellFault("has an attribute of an unknown version");
  }
  const flags = cursor.u8();
  const [nameSize, typeSize, spaceSize] = [
    cursor.u16(),
    cursor.u16(),
    cursor.u16(),
  ];
  if (version === 3) cursor.skip(1);
  const field = (size: number) => {
    const found = cursor.cursor(size);
    if (version === 1) cursor.skip(Math.min(cursor.left, -size & 7));
    return found;
  };
  const name = utf8Text(field(nameSize).name());
  const typeField = field(typeSize);
  const spaceField = field(spaceSize);
  const isShared = (bit: number) => version > 1 && (flags & bit) !== 0;
  const type = readType(
    isShared(1)
      ? yield* objects.shared(MessageType.DATATYPE, typeField)
      : typeField,
  );
  const space = readSpace(
    isShared(2)
      ? yield* objects.shared(MessageType.DATASPACE, spaceField)
      : spaceField,
  );
  const length = bytesOf({ ...space, type });
  return { name, type, ...space, bytes: cursor.take(length) };
}
