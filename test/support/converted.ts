/** Reads the content of containers, to compare conversions. */
import * as fs from "node:fs";
import {
  type Decoders,
  decodersOf,
  ShardedDatasetReader,
} from "../../src/formats/bags/mod.ts";
import { GulpDirectory } from "../../src/formats/gulp/mod.ts";
import { sha256 } from "./golden.ts";
import { open } from "../../src/open/open.ts";

const asBytes = (bytes: Uint8Array) => bytes;

/** Returns the decoders of a generation, but images stay bytes. */
export function comparable(generation: 1 | 2 | 3): Decoders {
  const media = { jpeg: asBytes, jpg: asBytes, png: asBytes };
  return { __proto__: null as never, ...decodersOf(generation), ...media };
}

/** Reads and decodes all datapoints of a dataset. */
export function datapointsOf(path: string): Record<string, unknown>[] {
  const { generation } = ShardedDatasetReader.openSync(path);
  using reader = ShardedDatasetReader.openSync(path, {
    decoders: comparable(generation),
  });
  return Array.from({ length: reader.length }, (_, i) => reader.getSync(i));
}

/** Returns id, metadata and hashes of the frames of all videos. */
export function videosOf(path: string): [string, unknown, string[]][] {
  using directory = GulpDirectory.openSync(path, { decode: false });
  return [...directory.mergedMetaDict.keys()].map((id) => {
    const { frames, meta } = directory.getRawSync(id);
    return [id, meta, frames.map(sha256)];
  });
}

/** Returns all files and directories of a container, by path; `null` for a directory. */
export async function filesOf(
  path: string,
): Promise<Map<string, Uint8Array | null>> {
  using container = await open(path);
  const found = new Map<string, Uint8Array | null>();
  for (const { path, isDirectory } of container.walkSync()) {
    found.set(path, isDirectory ? null : container.readSync(path));
  }
  return found;
}

/** Lists a directory, hidden files included. */
export function namesIn(directory: string): string[] {
  return fs.readdirSync(directory).sort();
}
