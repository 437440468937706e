import manifest from "../../deno.json" with { type: "json" };
import { packArchive, writeFiles } from "../archive.ts";
import { packageFiles } from "./package_files.ts";

/** What was built. */
export interface BuiltPackage {
  /** Path of the archive. */
  readonly file: string;
  /** How many files are in it. */
  readonly files: number;
  /** Size of the archive. */
  readonly bytes: number;
  /** Size of the files. */
  readonly unpacked: number;
}

/** Builds the npm package: the same sources give the same bytes. */
export async function buildPackage(directory: string): Promise<BuiltPackage> {
  const place = await Deno.makeTempDir({ prefix: "recordfs-package-" });
  try {
    const files = await packageFiles(place);
    writeFiles(`${place}/package`, files);
    const file = `${directory}/recordfs-${manifest.version}.tgz`;
    packArchive(file, place, files.map(({ path }) => `package/${path}`));
    const unpacked = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const { size } = await Deno.stat(file);
    return { file, files: files.length, bytes: size, unpacked };
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}
