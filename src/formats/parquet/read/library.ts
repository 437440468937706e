import { mustWait } from "../../../io/storage/must_wait.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { PACKAGES } from "../../../base/packages.ts";

type ThriftModule = typeof import("hyparquet/src/thrift.js");
type Column = typeof import("hyparquet/src/column.js");
type DataPage = typeof import("hyparquet/src/datapage.js");
type Plain = typeof import("hyparquet/src/plain.js");
type Indexes = typeof import("hyparquet/src/indexes.js");
type Assemble = typeof import("hyparquet/src/assemble.js");
type Delta = typeof import("hyparquet/src/delta.js");
type Compressors = typeof import("hyparquet-compressors");

type ColumnWriter = typeof import("hyparquet-writer/src/column.js");

/** Library that writes files. */
export type ParquetWriterLibrary = typeof import("hyparquet-writer");
/** Element of a schema, as that library takes it. */
export type WrittenElement = ConstructorParameters<
  ParquetWriterLibrary["ParquetWriter"]
>[0]["schema"][number];

/** Synchronous decoding functions of `hyparquet`. */
export type ParquetLibrary =
  & Pick<Column, "parquetHeader">
  & Pick<DataPage, "readDataPage">
  & Pick<Plain, "readPlain">
  & Pick<Indexes, "readOffsetIndex">
  & Pick<Assemble, "assembleLists" | "assembleNested">
  & Pick<Delta, "deltaBinaryUnpack">
  & { readonly readThrift: ThriftModule["deserializeTCompactProtocol"] }
  & Pick<Compressors, "decompressLz4" | "decompressLz4Raw">
  & {
    /** Decompresses Snappy to memory owned by the library. */
    readonly snappy: NonNullable<Compressors["compressors"]["SNAPPY"]>;
  };

export type LibraryTree = Parameters<Assemble["assembleNested"]>[1];
export type LibraryDecoder = Parameters<Column["readPage"]>[2];
export type LibraryHeader = ReturnType<Column["parquetHeader"]>;

let loaded: ParquetLibrary | undefined;
let loading: Promise<ParquetLibrary> | undefined;

/** Loads the library. Synchronously, this requires that it is already loaded. */
export function* loadLibrary(name: string): Steps<ParquetLibrary> {
  return loaded ?? (yield* perform<ParquetLibrary>({
    sync: () => library(name),
    async: async () => {
      loading ??= load().catch((error) => {
        loading = undefined; // retried the next time
        throw error;
      });
      return loaded = await loading;
    },
  }));
}

/** Returns the library loaded by {@linkcode loadLibrary}. Throws code `must-wait` if it is not. */
export function library(name: string): ParquetLibrary {
  if (loaded === undefined) throw mustWait(name);
  return loaded;
}

async function load(): Promise<ParquetLibrary> {
  const part = async <T>(name: string): Promise<T> =>
    await import(`${PACKAGES.hyparquet}/src/${name}.js`);
  const { deserializeTCompactProtocol: readThrift } = await part<ThriftModule>(
    "thrift",
  );
  const { parquetHeader } = await part<Column>("column");
  const { readDataPage } = await part<DataPage>("datapage");
  const { readPlain } = await part<Plain>("plain");
  const { readOffsetIndex } = await part<Indexes>("indexes");
  const { assembleLists, assembleNested } = await part<Assemble>("assemble");
  const { deltaBinaryUnpack } = await part<Delta>("delta");
  const compressors: Compressors = await import(PACKAGES.hyparquetCompressors);
  const { decompressLz4, decompressLz4Raw } = compressors;
  return guarded({
    readThrift,
    parquetHeader,
    readDataPage,
    readPlain,
    readOffsetIndex,
    assembleLists,
    assembleNested,
    deltaBinaryUnpack,
    snappy: compressors.compressors.SNAPPY!,
    decompressLz4,
    decompressLz4Raw,
  });
}

/** Wraps the library's functions: any error that they throw means that the bytes are damaged. */
function guarded(library: ParquetLibrary): ParquetLibrary {
  type Any = (...args: unknown[]) => unknown;
  const guard = (call: Any): Any => (...args) => {
    try {
      return call(...args);
    } catch (cause) {
      throw new CellFault(
        "cannot be decoded: its bytes do not match its headers",
        "damaged",
        cause,
      );
    }
  };
  const entries = Object.entries(library)
    .map(([name, call]) => [name, guard(call as Any)] as const);
  return Object.fromEntries(entries) as unknown as ParquetLibrary;
}

/** Loads the function of that library that writes the values and levels of a leaf. */
export async function loadColumnWriter(): Promise<ColumnWriter["writeColumn"]> {
  const { writeColumn }: ColumnWriter = await import(
    `${PACKAGES.hyparquetWriter}/src/column.js`
  );
  return writeColumn;
}

/** Loads the library that writes files. */
export async function loadWriter(): Promise<ParquetWriterLibrary> {
  return await import(PACKAGES.hyparquetWriter);
}
