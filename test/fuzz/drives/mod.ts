/** All drives. Add new ones at the end: the random choices of a drive depend on its index. */
import {
  arrowsDrive,
  hdf5sDrive,
  linesDrives,
  litdataDrive,
  lmdbsDrive,
  mdsDrive,
  parquetsDrive,
  safetensorsDrive,
  tarsDrive,
  tfrecordsDrive,
  zipsDrive,
} from "./batch_readers.ts";
import { cachesDrive } from "./caches.ts";
import { codecsDrive } from "./codecs.ts";
import { commandDrive, programDrive } from "./commands.ts";
import { convertAllDrive, convertDrive, repairDrive } from "./conversions.ts";
import { dataDrive, threadsDrive } from "./data.ts";
import type { Drive } from "./drive.ts";
import { expectedDrive } from "./expected.ts";
import { httpDrive } from "./http.ts";
import { mountDrive } from "./mounts.ts";
import { readersDrive } from "./readers.ts";
import { recordsDrive } from "./records.ts";
import { staleIndexesDrive } from "./stale_indexes.ts";
import { treeDrive } from "./tree.ts";

export const DRIVES: readonly Drive[] = [
  expectedDrive,
  treeDrive,
  readersDrive,
  codecsDrive,
  dataDrive,
  convertDrive,
  repairDrive,
  commandDrive,
  convertAllDrive,
  programDrive,
  mountDrive,
  threadsDrive,
  tarsDrive,
  zipsDrive,
  tfrecordsDrive,
  mdsDrive,
  parquetsDrive,
  recordsDrive,
  cachesDrive,
  httpDrive,
  staleIndexesDrive,
  lmdbsDrive,
  litdataDrive,
  safetensorsDrive,
  ...linesDrives,
  arrowsDrive,
  hdf5sDrive,
];
