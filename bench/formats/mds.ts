/**
 * MDS: reading samples in batches, in order and in random order, by the reader and through a mount, beside a loop that reads
 * the same bytes and does nothing else.
 *
 *   deno run -A bench/formats/mds.ts [--samples N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { mount } from "../../fuse/mod.ts";
import { MDSReader, MDSWriter } from "../../src/formats/mds/mod.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
