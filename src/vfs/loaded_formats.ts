import {
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
} from "../formats/ffrecord/format.ts";
import { bags } from "../formats/bags/format.ts";
import { gulp } from "../formats/gulp/format.ts";
import type { Format } from "../tree/format.ts";

/** All formats of `formats.ts`, for those who can't wait until one is loaded. */
export const LOADED_FORMATS: readonly Format[] = [
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
  gulp,
  bags,
];
