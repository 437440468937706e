import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { jsonOf } from "../../../codecs/cells/render_cell.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Entry } from "../read/catalog.ts";
import {
  type Attribute,
  type Dataset,
  readAttribute,
} from "../read/dataset.ts";
import { readAll } from "../read/elements.ts";
import type { Hdf5File } from "../read/hdf5_file.ts";
import { readDense } from "../read/links.ts";
import { MessageType, readMessages } from "../read/object_header.ts";
import { fieldOf, hasHeap, StoredCells } from "./cells.ts";
import { type ElementType, product } from "./types.ts";

/** Attributes of an object, at most. */
const MOST_ATTRIBUTES = 65_536;

const encoder = new TextEncoder();

/** Makes the content of a file that is no array: a dataset, or the attributes of an object. */
export function* render(
  file: Hdf5File,
  { kind, path, at, dataset }: Entry,
): Steps<Uint8Array> {
  return yield* file.guarded(
    path,
    kind === "attributes"
      ? renderAttributes(file, at)
      : renderDataset(file, dataset!, kind === "text"),
  );
}

function* renderDataset(
  file: Hdf5File,
  dataset: Dataset,
  isText: boolean,
): Steps<Uint8Array> {
  const { type, shape } = dataset;
  if (shape === undefined) return encoder.encode("null\n");
  const bytes = yield* readAll(file.elements, dataset);
  const stored = yield* storedValue(file, type, shape, bytes);
  if (isText) return (stored as Uint8Array).slice();
  return encoder.encode(`${jsonOf(fieldOf("", type, shape), stored)}\n`);
}

function* renderAttributes(file: Hdf5File, address: number): Steps<Uint8Array> {
  const lines: string[] = [];
  for (const attribute of yield* readAttributes(file, address)) {
    const { name, type, shape, bytes } = attribute;
    const value = shape === undefined ? "null" : jsonOf(
      fieldOf(name, type, shape),
      yield* storedValue(file, type, shape, bytes),
    );
    lines.push(`${JSON.stringify(name)}: ${value}`);
  }
  return encoder.encode(`{\n  ${lines.join(",\n  ")}\n}\n`);
}

/** Reads the attributes of an object, in the order of their names. */
function* readAttributes(file: Hdf5File, address: number): Steps<Attribute[]> {
  const { metadata, objects } = file;
  metadata.renew();
  const messages = yield* readMessages(metadata, address);
  const found: Attribute[] = [];
  for (const message of messages) {
    if (message.type !== MessageType.ATTRIBUTE) continue;
    found.push(yield* readAttribute(objects, yield* objects.content(message)));
  }
  const info = yield* objects.find(messages, MessageType.ATTRIBUTE_INFO);
  if (info !== undefined) {
    const flags = info.skip(1).u8();
    info.skip(flags & 1 ? 2 : 0);
    for (const stored of yield* readDense(metadata, info, 0)) {
      found.push(yield* readAttribute(objects, stored));
    }
  }
  if (found.length > MOST_ATTRIBUTES) {
    throw new CellFault(`has ${found.length} attributes`, "too-large");
  }
  return found.sort((a, b) => a.name < b.name ? -1 : 1);
}

function* storedValue(
  { metadata, elements }: Hdf5File,
  type: ElementType,
  shape: readonly number[],
  bytes: Uint8Array,
): Steps<unknown> {
  const cells = new StoredCells(metadata, elements.heaps, true);
  const count = hasHeap(type) ? product(shape) : 0;
  for (let i = 0; i < count; i++) {
    yield* cells.load(type, bytes, i * type.size);
  }
  return cells.at(type, bytes, 0, shape);
}
