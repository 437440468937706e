import { utf8Text } from "../../../base/utf8.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { product } from "../values/types.ts";
import { bytesOf, type Dataset, isUnallocated } from "./dataset.ts";
import { unsupportedFilter } from "./filters.ts";
import type { Hdf5File } from "./hdf5_file.ts";
import { nameIn, readLocalHeap } from "./links.ts";
import { Cursor } from "./metadata.ts";
import { type Message, MessageType } from "./object_header.ts";

/** Bytes of a decoded chunk, at most: it is decoded at once. */
const MOST_CHUNK = 64 << 20;
/** How many bytes deflate makes of one, at most, and what fill values may add. */
const MOST_INFLATED = 1100;
const MOST_FILLED = 64 << 20;

/** Returns why a dataset cannot be read, if that is known before it is; the text continues "it …". */
export function* refusalOf(
  file: Hdf5File,
  dataset: Dataset,
  messages: readonly Message[],
): Steps<string | undefined> {
  const { layout, shape, type } = dataset;
  const { metadata, objects, source } = file;
  const outside = yield* objects.find(messages, MessageType.EXTERNAL_FILES);
  if (outside !== undefined) {
    const heap = yield* readLocalHeap(metadata, outside.skip(8).offset());
    const name = utf8Text(nameIn(heap, outside.length()));
    return `has its data in another file, '${name}', which is not opened. Copy the data into this file`;
  }
  if (layout.is === "virtual") {
    const heap = isUnallocated(dataset)
      ? undefined
      : yield* file.elements.heaps.load(layout.address);
    const list = new Cursor(heap?.get(layout.number) ?? EMPTY, metadata);
    // Version 1 has flags before each name.
    const isNew = list.left > 0 && list.u8() === 1;
    if (list.left > 0) list.length();
    if (isNew) list.skip(1);
    const from = list.left > 0 ? ` of '${utf8Text(list.name())}'` : "";
    return `is a virtual dataset${from}, which is unsupported. Copy the data into this file`;
  }
  if (type.is === "odd") return `${type.why}, which are unsupported`;
  const filter = layout.is === "chunks"
    ? unsupportedFilter(layout.filters)
    : undefined;
  if (filter !== undefined) {
    return `is compressed by the filter ${filter}, which is unsupported. Write it again with gzip, by a program that has the filter`;
  }
  const most = MOST_INFLATED * source.size + MOST_FILLED;
  const bytes = bytesOf(dataset);
  if (shape !== undefined && !(Math.max(bytes, ...shape) <= most)) {
    return `has the shape (${
      shape.join(", ")
    }), more than a file of ${source.size} bytes can hold`;
  }
  if (layout.is === "chunks") {
    const decoded = product(layout.shape) * type.size;
    return decoded <= MOST_CHUNK
      ? undefined
      : `has chunks of ${decoded} bytes, more than the limit of ${MOST_CHUNK}. Write it again in smaller ones (h5repack -l)`;
  }
  const { address, length } = layout;
  const isInside = isUnallocated(dataset) ||
    bytes <= length && address + bytes <= metadata.size;
  if (!isInside) throw new CellFault("has fewer bytes than its shape");
  return undefined;
}

const EMPTY = new Uint8Array();
