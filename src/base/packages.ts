/**
 * Full specifiers of npm packages that are loaded on demand. A program that imports these modules by path, in a folder
 * without a configuration, does not have their import map. A test keeps the versions equal to those in `deno.json`.
 *
 * They are strings because Deno fetches packages named in import statements before any program starts.
 */
export const PACKAGES: Readonly<
  Record<
    | "aws4fetch"
    | "awsConfig"
    | "awsCredentials"
    | "csvParse"
    | "exifReader"
    | "fastXmlParser"
    | "flechette"
    | "hashWasm"
    | "htmlparser2"
    | "hyparquet"
    | "hyparquetCompressors"
    | "hyparquetWriter"
    | "imagescript"
    | "minizlib"
    | "nodeRsCrc32"
    | "picomatch"
    | "sharp"
    | "turboJpeg",
    string
  >
> = {
  aws4fetch: "npm:aws4fetch@1.0.20",
  awsConfig: "npm:@smithy/shared-ini-file-loader@4.7.2",
  awsCredentials: "npm:@aws-sdk/credential-providers@3.1173.0",
  csvParse: "npm:csv-parse@7.0.3",
  exifReader: "npm:exif-reader@2.0.3",
  fastXmlParser: "npm:fast-xml-parser@5.12.1",
  flechette: "npm:@uwdata/flechette@2.6.0",
  hashWasm: "npm:hash-wasm@4.12.0",
  htmlparser2: "npm:htmlparser2@12.0.0",
  hyparquet: "npm:hyparquet@1.31.5",
  hyparquetCompressors: "npm:hyparquet-compressors@1.1.2",
  hyparquetWriter: "npm:hyparquet-writer@0.17.0",
  imagescript: "npm:imagescript@1.3.1",
  minizlib: "npm:minizlib@3.1.0",
  nodeRsCrc32: "npm:@node-rs/crc32@1.10.6",
  picomatch: "npm:picomatch@4.0.7",
  sharp: "npm:sharp@0.35.5",
  turboJpeg: "npm:@julusian/jpeg-turbo@3.0.1",
};

/** Fetches a package if it is not cached, and returns the URL of the file at `path` in it. */
export async function packageFile(
  name: keyof typeof PACKAGES,
  path: string,
): Promise<URL> {
  const specifier = PACKAGES[name];
  // Importing a file fetches the package; `resolve` alone only returns where it would be.
  await import(`${specifier}/package.json`, { with: { type: "json" } });
  return new URL(import.meta.resolve(`${specifier}/${path}`));
}
