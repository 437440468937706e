import {
  ffrecordPackedSignature,
  ffrecordSamplesSignature,
  ffrecordSignature,
} from "../formats/ffrecord/signature.ts";
import { bagsSignature } from "../formats/bags/signature.ts";
import { gulpSignature } from "../formats/gulp/signature.ts";
import type { OpenAs } from "../formats/ffrecord/folder/find_structures.ts";
import type {
  ContainerOptions,
  Format,
  FormatSignature,
  ServedContainer,
} from "../tree/format.ts";

/** A format that is loaded when a container turns out to be of it: a mount answers sooner so. */
export interface KnownFormat extends FormatSignature {
  load(): Promise<Format>;
  /**
   * Opens a container for other threads to serve, as soon as it can be served at all. This thread
   * looks nothing up in its tree before `complete` has ended. Without it, `open` serves.
   */
  openToServe?(
    path: string,
    options: ContainerOptions,
  ): Promise<ServedContainer>;
}

const ffrecord: KnownFormat = {
  ...ffrecordSignature,
  load: async () => (await import("../formats/ffrecord/format.ts")).ffrecord,
  openToServe: (path, options) => openRecords(path, options, "detect"),
};

const ffrecordPacked: KnownFormat = {
  ...ffrecordPackedSignature,
  load: async () =>
    (await import("../formats/ffrecord/format.ts")).ffrecordPacked,
  openToServe: (path, options) => openRecords(path, options, "packed"),
};

const ffrecordSamples: KnownFormat = {
  ...ffrecordSamplesSignature,
  load: async () =>
    (await import("../formats/ffrecord/format.ts")).ffrecordSamples,
  openToServe: (path, options) => openRecords(path, options, "samples"),
};

const gulp: KnownFormat = {
  ...gulpSignature,
  load: async () => (await import("../formats/gulp/format.ts")).gulp,
};

const bags: KnownFormat = {
  ...bagsSignature,
  load: async () => (await import("../formats/bags/format.ts")).bags,
  openToServe: async (path, options) => {
    const module = await import("../formats/bags/tree/open_to_serve.ts");
    return await module.openToServe(path, options);
  },
};

/** Formats that are recognised by their content, in the order in which they are asked. */
export const DETECTED_FORMATS: readonly KnownFormat[] = [ffrecord, gulp, bags];

/** All formats that the `format` option knows. */
export const FORMATS: readonly KnownFormat[] = [
  ffrecord,
  ffrecordPacked,
  ffrecordSamples,
  gulp,
  bags,
];

async function openRecords(
  path: string,
  options: ContainerOptions,
  as: OpenAs,
): Promise<ServedContainer> {
  const module = await import("../formats/ffrecord/tree/open_to_serve.ts");
  return await module.openToServe(path, options, as);
}
