/**
 * Takes random clips of gulped videos as training batches, in a process of its own, like `reference/gulp_clips.py`:
 * prints the clips a second of each pass but the first, as JSON.
 *
 *   clip_passes.ts recycle|leave DIRECTORY LENGTH STEP EDGE WORKERS PASSES
 *
 * @module
 */
import {
  ComposeVideo,
  DataLoader,
  GulpVideoDataset,
  RandHorFlipVideo,
  RandomCropVideo,
  ToArrayVideo,
} from "../../src/open/data/mod.ts";
import { countSamples, passRates } from "../data/loader_passes.ts";

const [way, path, ...numbers] = Deno.args;
const [numFrames, stepSize, edge, numWorkers, passes] = numbers.map(Number);

using dataset = await GulpVideoDataset.open(path!, {
  numFrames: numFrames!,
  stepSize: stepSize!,
  label: "idx",
  transform: new ComposeVideo([], [
    new RandomCropVideo(edge!),
    new RandHorFlipVideo(),
    new ToArrayVideo({ layout: "channels-outermost", scale: 1 / 255 }),
  ]),
});
await using loader = new DataLoader(dataset, {
  batchSize: 8,
  shuffle: true,
  numWorkers: numWorkers!,
  persistentWorkers: true,
});
const rates = await passRates(
  passes!,
  () => countSamples(loader, ({ label }) => label.length, way === "recycle"),
);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(rates)));
