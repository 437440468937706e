import { runAsync } from "../../io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import type { Format } from "../format.ts";
import { checkChunks } from "./check/check.ts";
import { DIRECTORY } from "./kinds.ts";
import { listLocation, openGulp } from "./tree/open_gulp.ts";

export const gulp: Format = {
  open: openGulp,
  async check(path, options) {
    const { storage = LOCAL_DISK, signal } = options;
    const listing = await runAsync(listLocation(path, storage), signal);
    return await checkChunks(listing, options);
  },
  async openSource(container, options) {
    const { GulpSource } = await import("./convert/source.ts");
    return await GulpSource.open(container, options);
  },
  async target() {
    return (await import("./convert/files_to_gulp.ts")).gulpTarget;
  },
  async openDataset(path, { kind, facts }, options) {
    if (kind !== DIRECTORY) return undefined;
    const { frames: numFrames, storage, remote, onWarning } = options;
    const given = { storage, remote, onWarning, label: null }; // not all videos have labels
    const { GulpImageDataset, GulpVideoDataset } = await import(
      "./data/gulp.ts"
    );
    const areImages = facts?.["frames"] === facts?.["videos"];
    if (areImages && numFrames === undefined) {
      return await GulpImageDataset.open(path, given);
    }
    const stack = false; // frames of a video may differ in size
    return await GulpVideoDataset.open(path, { ...given, numFrames, stack });
  },
};
