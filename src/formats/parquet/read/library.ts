import { mustWait } from "../../../io/storage/must_wait.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { PageFault } from "../pages/page_fault.ts";
import { PACKAGES } from "../../../packages.ts";

type Metadata = typeof import("hyparquet/src/metadata.js");
type Column = typeof import("hyparquet/src/column.js");
type DataPage = typeof import("hyparquet/src/datapage.js");
type Plain = typeof import("hyparquet/src/plain.js");
type Indexes = typeof import("hyparquet/src/indexes.js");
type Assemble = typeof import("hyparquet/src/assemble.js");
type Delta = typeof import("hyparquet/src/delta.js");
type Encoding = typeof import("hyparquet/src/encoding.js");
type Convert = typeof import("hyparquet/src/convert.js");
type Compressors = typeof import("hyparquet-compressors");

/** What of `hyparquet` decodes bytes that are at hand; all of it answers at once. */
export type ParquetLibrary =
  & Pick<Metadata, "parquetMetadata">
  & Pick<Column, "parquetHeader">
  & Pick<DataPage, "readDataPage" | "readDataPageV2">
  & Pick<Plain, "readPlain">
  & Pick<Indexes, "readOffsetIndex">
  & Pick<Assemble, "assembleLists" | "assembleNested">
  & Pick<Delta, "deltaBinaryUnpack">
  & Pick<Convert, "parseFloat16">
  & { readonly readLevels: Encoding["readRleBitPackedHybrid"] }
  & Pick<Compressors, "decompressLz4" | "decompressLz4Raw">
  & {
    /** Decompresses Snappy in memory that it keeps. */
    readonly snappy: NonNullable<Compressors["compressors"]["SNAPPY"]>;
  };

/** A column as the library has its schema. */
export type LibraryTree = Parameters<Assemble["assembleNested"]>[1];
/** What the library is told of a column whose pages it decodes. */
export type LibraryDecoder = Parameters<Column["readPage"]>[2];
/** The library's header of a page. */
export type LibraryHeader = ReturnType<Column["parquetHeader"]>;

let loaded: ParquetLibrary | undefined;
let loading: Promise<ParquetLibrary> | undefined;

/** Loads the library; without waiting, it has to be loaded already. */
export function* loadLibrary(name: string): Steps<ParquetLibrary> {
  return loaded ?? (yield* perform<ParquetLibrary>({
    sync: () => library(name),
    async: async () => {
      loading ??= load().catch((error) => {
        loading = undefined; // it may be there the next time
        throw error;
      });
      return loaded = await loading;
    },
  }));
}

/**
 * The library that {@linkcode loadLibrary} has loaded.
 *
 * @throws {RecordfsError} With code `must-wait` if it has not.
 */
export function library(name: string): ParquetLibrary {
  if (loaded === undefined) throw mustWait(name);
  return loaded;
}

async function load(): Promise<ParquetLibrary> {
  const part = async <T>(name: string): Promise<T> =>
    await import(`${PACKAGES.hyparquet}/src/${name}.js`);
  const { parquetMetadata } = await part<Metadata>("metadata");
  const { parquetHeader } = await part<Column>("column");
  const { readDataPage, readDataPageV2 } = await part<DataPage>("datapage");
  const { readPlain } = await part<Plain>("plain");
  const { readOffsetIndex } = await part<Indexes>("indexes");
  const { assembleLists, assembleNested } = await part<Assemble>("assemble");
  const { deltaBinaryUnpack } = await part<Delta>("delta");
  const { readRleBitPackedHybrid: readLevels } = await part<Encoding>(
    "encoding",
  );
  const { parseFloat16 } = await part<Convert>("convert");
  const compressors: Compressors = await import(PACKAGES.hyparquetCompressors);
  const { decompressLz4, decompressLz4Raw } = compressors;
  return guarded({
    parquetMetadata,
    parquetHeader,
    readDataPage,
    readDataPageV2,
    readPlain,
    readOffsetIndex,
    assembleLists,
    assembleNested,
    deltaBinaryUnpack,
    readLevels,
    parseFloat16,
    snappy: compressors.compressors.SNAPPY!,
    decompressLz4,
    decompressLz4Raw,
  });
}

/** Whatever the library throws says that the bytes are not what they should be. */
function guarded(library: ParquetLibrary): ParquetLibrary {
  type Any = (...args: unknown[]) => unknown;
  const guard = (call: Any): Any => (...args) => {
    try {
      return call(...args);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PageFault(`can't be decoded (${why})`, "damaged", cause);
    }
  };
  const entries = Object.entries(library)
    .map(([name, call]) => [name, guard(call as Any)] as const);
  return Object.fromEntries(entries) as unknown as ParquetLibrary;
}
