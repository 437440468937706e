/** Content of containers, for comparing what was converted. */
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

/** Decodes as the originals do, but images, of which the bytes are compared. */
export function comparable(generation: 1 | 2 | 3): Decoders {
  const media = { jpeg: asBytes, jpg: asBytes, png: asBytes };
  return { __proto__: null as never, ...decodersOf(generation), ...media };
}

/** All datapoints of a dataset, decoded. */
export function datapointsOf(path: string): Record<string, unknown>[] {
  const { generation } = ShardedDatasetReader.openSync(path);
  using reader = ShardedDatasetReader.openSync(path, {
    decoders: comparable(generation),
  });
  return Array.from({ length: reader.length }, (_, i) => reader.getSync(i));
}

/** All videos: id, meta data, and what tells the frames from others. */
export function videosOf(path: string): [string, unknown, string[]][] {
  using directory = GulpDirectory.openSync(path, { decode: false });
  return [...directory.mergedMetaDict.keys()].map((id) => {
    const { frames, meta } = directory.getRawSync(id);
    return [id, meta, frames.map(sha256)];
  });
}

/** All files and directories of a container, by path. */
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

/** What a directory holds, hidden files too. */
export function namesIn(directory: string): string[] {
  return fs.readdirSync(directory).sort();
}
