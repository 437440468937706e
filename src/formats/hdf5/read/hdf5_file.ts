import { CellFault, fileError } from "../../../codecs/cells/cell_fault.ts";
import type { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { SIGNATURE, STARTS } from "../layout.ts";
import { Elements } from "./elements.ts";
import { Metadata } from "./metadata.ts";
import { ObjectReader } from "./object_header.ts";

/** Bytes of a superblock, at most. */
const MOST_SUPERBLOCK = 128;

/** How a file is read, as its superblock says: plain data. */
export interface FileForm {
  readonly base: number;
  readonly offsetSize: number;
  readonly lengthSize: number;
  /** Address of the root group. */
  readonly root: number;
}

/** A file whose superblock has been read. */
export class Hdf5File {
  readonly source: ByteSource;
  readonly form: FileForm;
  readonly metadata: Metadata;
  readonly objects: ObjectReader;
  readonly elements: Elements;

  constructor(source: ByteSource, form: FileForm) {
    this.source = source;
    this.form = form;
    this.metadata = new Metadata(source, form);
    this.objects = new ObjectReader(this.metadata);
    this.elements = new Elements(this.metadata);
  }

  /** Reads the superblock (II.A) of a file. Throws `FormatError` if it is damaged. */
  static *open(source: ByteSource): Steps<Hdf5File> {
    return new Hdf5File(source, yield* guarded(source.name, readForm(source)));
  }

  /** Runs a procedure that reads an object; a fault becomes the error of that object. */
  *guarded<T>(object: string, steps: Steps<T>): Steps<T> {
    return yield* guarded(this.source.name, steps, object);
  }
}

function* readForm(source: ByteSource): Steps<FileForm> {
  const { size } = source;
  for (const base of STARTS) {
    if (base + SIGNATURE.length > size) break;
    const metadata = new Metadata(source, {
      base,
      offsetSize: 8,
      lengthSize: 8,
    });
    const start = yield* readPart(source, base, SIGNATURE.length);
    if (!SIGNATURE.every((byte, i) => start[i] === byte)) continue;
    const whole = Math.min(MOST_SUPERBLOCK, size - base);
    const head = yield* metadata.part(0, whole);
    const version = head.skip(SIGNATURE.length).u8();
    if (version > 3) {
      throw new CellFault("is of an unknown version", "unsupported");
    }
    if (version < 2) head.skip(4);
    const offsetSize = head.u8();
    const lengthSize = head.u8();
    if (![2, 4, 8].includes(offsetSize) || ![2, 4, 8].includes(lengthSize)) {
      throw new CellFault("has addresses of a wrong size");
    }
    head.skip(version < 2 ? 9 + 4 * version : 1);
    const form = { base, offsetSize, lengthSize };
    const sized = new Metadata(source, form);
    const rest = (yield* sized.part(0, whole)).skip(head.at);
    // What precedes may have been added or removed since.
    const past = size - base + rest.offset();
    rest.offset();
    const end = rest.offset();
    if (version < 2) rest.skip(2 * offsetSize);
    const root = rest.offset();
    if (version >= 2) {
      const length = rest.at + 4;
      yield* sized.sealed(0, length);
    }
    if (end > past) {
      const why = `it ends ${end - past} bytes too early`;
      throw fileError(source.name, why, "truncated");
    }
    return { ...form, root };
  }
  throw new CellFault("does not begin as HDF5");
}

/** Runs a procedure that reads metadata; a fault becomes an error of the file, or of an object in it. */
function* guarded<T>(path: string, steps: Steps<T>, object?: string): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    const code = codeOf(fault);
    if (object === undefined) {
      throw fileError(path, `it ${fault.message}`, code, error);
    }
    throw memberError(code, path, object, `it ${fault.message}`, {
      cause: error,
    });
  }
}

/** Returns the fault of an error; those of a `DataView` are of structures that are cut. */
export function faultOf(error: unknown): CellFault | undefined {
  if (error instanceof CellFault) return error;
  return error instanceof RangeError
    ? new CellFault("has a structure that is cut", "damaged", error)
    : undefined;
}

function codeOf({ kind }: CellFault): FormatError["code"] {
  return kind === "unsupported" || kind === "too-large"
    ? kind
    : "bad-structure";
}
