/** `recordfs bag create` from what `extract` writes, and from lines of JSON. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { decodersOf, type TreeContent, valueToJson } from "../../mod.ts";
import {
  BagReader,
  DatasetReader,
  ShardedDatasetReader,
} from "../../src/formats/bags/mod.ts";
import { parseType } from "../../src/formats/bags/spec.ts";
import { datasetCases, generationOf } from "../support/bag_golden.ts";
import { filesBelow } from "../support/files_below.ts";
import { withTempDir } from "../support/paths.ts";
import { assertFailed, recordfs, succeed } from "./run_cli.ts";
