import type { Steps } from "../../../io/concurrency/steps.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { TypeClass } from "../layout.ts";
import { readElements, withMemory } from "../read/array_blocks.ts";
import type { Entry } from "../read/catalog.ts";
import { type Hdf5File, Refusal } from "../read/hdf5_file.ts";
import type { Library, Metadata } from "../read/library.ts";
import { TextFault, ValueText } from "./json_text.ts";
import { areBytes } from "./types.ts";

/** Bytes of the values of an attribute, at most. */
const MOST_ATTRIBUTE = 16 << 20;

const encoder = new TextEncoder();

/** Makes the content of a file that is no array: a dataset, or the attributes of an object. */
export function render(
  file: Hdf5File,
  { kind, path, space }: Entry,
): Steps<Uint8Array> {
  return named(file, path, (library, id) => {
    if (kind === "attributes") return attributesOf(library, id, path);
    const type = library.get_dataset_metadata(id, path);
    if (type.shape === null) return encoder.encode("null\n");
    return withElements(library, id, path, type, space, 0, (text, at) => {
      const made = kind === "text"
        ? text.text(type, at)
        : `${text.json(type, space, at)}\n`;
      return encoder.encode(made);
    });
  });
}

/** Makes the values of consecutive rows: bytes, text, or JSON. */
export function renderRows(
  file: Hdf5File,
  { path, space }: Pick<Entry, "path" | "space">,
  first: number,
  count: number,
): Steps<Uint8Array[]> {
  const [, ...inner] = space;
  return named(file, path, (library, id) => {
    const type = library.get_dataset_metadata(id, path);
    const shape = [count, ...inner];
    const step = inner.reduce((product, length) => product * length, type.size);
    return withElements(
      library,
      id,
      path,
      type,
      shape,
      first,
      (text, start) => {
        return Array.from({ length: count }, (_, i) => {
          const at = start + i * step;
          if (inner.length === 0 && areBytes(type)) {
            const [from, length] = text.range(type, at);
            return library.HEAPU8.slice(from, from + length);
          }
          const isText = inner.length === 0 && type.type === TypeClass.STRING;
          return encoder.encode(
            isText ? text.text(type, at) : text.json(type, inner, at),
          );
        });
      },
    );
  });
}

/** Calls the library, and says of which object a fault is. */
function named<T>(
  file: Hdf5File,
  path: string,
  act: (library: Library, id: bigint) => T,
): Steps<T> {
  return file.call(path, (library, id) => {
    try {
      return act(library, id);
    } catch (cause) {
      if (!(cause instanceof TextFault)) throw cause;
      throw memberError(
        "unsupported",
        file.source.name,
        path,
        `it ${cause.message}`,
        { cause },
      );
    }
  });
}

function withElements<T>(
  library: Library,
  id: bigint,
  path: string,
  type: Metadata,
  shape: readonly number[],
  first: number,
  act: (text: ValueText, at: number) => T,
): T {
  const size = shape.reduce((product, length) => product * length, type.size);
  return withMemory(library, size, (at) => {
    const counts = shape.map(BigInt);
    const offsets = shape.map((_, i) => i === 0 ? BigInt(first) : 0n);
    readElements(library, id, path, at, counts, offsets);
    try {
      return act(new ValueText(library.HEAPU8, type), at);
    } finally {
      if (counts.length === 0) {
        library.reclaim_vlen_memory(id, path, "", BigInt(at));
      } else {
        library.reclaim_vlen_memory_count(id, path, "", BigInt(at), counts);
      }
    }
  });
}

function attributesOf(library: Library, id: bigint, path: string): Uint8Array {
  const lines = library.get_attribute_names(id, path).map((name) => {
    const type = library.get_attribute_metadata(id, path, name);
    const key = JSON.stringify(name);
    if (type.shape === null) return `${key}: null`;
    const { shape } = type;
    const size = shape.reduce((product, length) => product * length, type.size);
    if (size > MOST_ATTRIBUTE) {
      throw new TextFault(
        `has the attribute ${key} of ${size} bytes, more than the limit of ${MOST_ATTRIBUTE}`,
      );
    }
    return withMemory(library, size, (at) => {
      if (library.get_attribute_data(id, path, name, BigInt(at)) < 0) {
        throw new Refusal();
      }
      try {
        const text = new ValueText(library.HEAPU8, type);
        return `${key}: ${text.json(type, shape, at)}`;
      } finally {
        library.reclaim_vlen_memory(id, path, name, BigInt(at));
      }
    });
  });
  return encoder.encode(`{\n  ${lines.join(",\n  ")}\n}\n`);
}
