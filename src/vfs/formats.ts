import {
  ffrecordPackedSignature,
  ffrecordSamplesSignature,
  ffrecordSignature,
} from "../formats/ffrecord/signature.ts";
import { gulpSignature } from "../formats/gulp/signature.ts";
import type { Format, FormatSignature } from "../tree/format.ts";

/** A format that is loaded when a container turns out to be of it: a mount answers sooner so. */
export interface KnownFormat extends FormatSignature {
  load(): Promise<Format>;
}

const ffrecord: KnownFormat = {
  ...ffrecordSignature,
  load: async () => (await import("../formats/ffrecord/format.ts")).ffrecord,
};

const ffrecordPacked: KnownFormat = {
  ...ffrecordPackedSignature,
  load: async () =>
    (await import("../formats/ffrecord/format.ts")).ffrecordPacked,
};

const ffrecordSamples: KnownFormat = {
  ...ffrecordSamplesSignature,
  load: async () =>
    (await import("../formats/ffrecord/format.ts")).ffrecordSamples,
};

const gulp: KnownFormat = {
  ...gulpSignature,
  load: async () => (await import("../formats/gulp/format.ts")).gulp,
};

/** Formats that are recognised by their content, in the order in which they are asked. */
export const DETECTED_FORMATS: readonly KnownFormat[] = [ffrecord, gulp];

/** All formats that the `format` option knows. */
export const FORMATS: readonly KnownFormat[] = [
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
  gulp,
];
