import {
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
} from "../formats/ffrecord/format.ts";
import { bags } from "../formats/bags/format.ts";
import { gulp } from "../formats/gulp/format.ts";
import type { Format } from "../tree/format.ts";

/** Formats that are recognised by their content, in the order in which they are asked. */
export const DETECTED_FORMATS: readonly Format[] = [ffrecord, gulp, bags];

/** All formats that the `format` option knows. */
export const FORMATS: readonly Format[] = [
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
  gulp,
  bags,
];
