/** Conversions: the result must be undamaged, and a failure must leave no output. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { convert } from "../../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../../src/convert/conversion.ts";
import { repairGulp } from "../../../src/formats/gulp/mod.ts";
import { check } from "../../../src/open/open.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const TARGETS: readonly ConvertOptions[] = [
  { to: "ffrecord" },
  { to: "ffrecord-samples" },
  { to: "ffrecord-samples", parts: 2 },
  { to: "gulp" },
  { to: "gulp", videosPerChunk: 1 },
  { to: "bags", generation: 1 },
  { to: "bags", generation: 2 },
  { to: "bags", generation: 3 },
  { to: "bags", generation: 3, shardLength: 2 },
  { to: "bag", generation: 1 },
  { to: "bag", generation: 3 },
  { to: "mds" },
  { to: "mds", shardLength: 2 },
  { to: "tar" },
  { to: "tar", shardLength: 2 },
  { to: "tfrecord" },
  { to: "tfrecord", shardLength: 2 },
  { to: "zip" },
  { to: "folder" },
];

/** Suffixes of targets that are a single file. */
const ENDINGS: Record<string, string> = {
  bag: ".bag",
  ffrecord: ".ffr",
  tar: ".tar",
  tfrecord: ".tfrecord",
  zip: ".zip",
};

const FOLDER = "folder";

const MEMORY = 1200;

export const convertDrive: Drive = {
  name: "convert",
  every: 8,
  memory: MEMORY,
  run: (scene) => convertTo(scene, scene.dice.pick(TARGETS)),
};

/** {@linkcode convertDrive} to all targets. */
export const convertAllDrive: Drive = {
  name: "convert to all",
  every: 200,
  memory: MEMORY,
  async run(scene) {
    for (const target of TARGETS) await convertTo(scene, target);
  },
};

async function convertTo(scene: Scene, target: ConvertOptions): Promise<void> {
  const { path, dice, original } = scene;
  const to = target.to!;
  const isSharded = target.shardLength !== undefined;
  const place = scene.output(isSharded ? "" : ENDINGS[to] ?? "");
  const from = original.format === FOLDER || dice.once(30) ? FOLDER : undefined;
  const options = { ...QUIET, ...target, from, lossy: dice.once(2) };
  const name = `convert to ${to} ${target.generation ?? ""}`.trim();
  const done = await scene.attempt(name, () => convert(path, place, options));
  if (!done.ok) return reportLeftOvers(scene, place);
  if (to !== "folder") await reportDamage(scene, place);
}

export const repairDrive: Drive = {
  name: "repair",
  every: 5,
  fits: ({ format }) => format === "gulp",
  async run(scene) {
    const place = scene.output();
    const partial = scene.dice.once(2);
    const done = await scene.attempt(
      "repairGulp",
      () => repairGulp(scene.path, place, { partial }),
    );
    if (done.ok && fs.existsSync(place)) await reportDamage(scene, place);
    else reportLeftOvers(scene, place);
  },
};

function reportLeftOvers(scene: Scene, place: string): void {
  const name = place.slice(place.lastIndexOf("/") + 1).split(".")[0]!;
  const left = fs.readdirSync(dirname(place))
    .filter((other) => other.replace(/^\./, "").split(".")[0] === name);
  if (left.length === 0) return;
  scene.report("left-behind", `after it failed there is ${left.join(", ")}`);
}

/** Reports damage in the result. */
async function reportDamage(scene: Scene, place: string): Promise<void> {
  const damages: Error[] = [];
  const checked = await scene.attempt(
    "check of the result",
    () =>
      check(place, {
        ...QUIET,
        onDamage: (damage) => damages.push(damage),
      }),
  );
  if (!checked.ok) {
    scene.report(
      "left-behind",
      `what was written cannot be opened: ${checked.error}`,
    );
  } else if (damages.length > 0) {
    scene.report(
      "left-behind",
      `what was written is damaged: ${damages[0]!.message}`,
    );
  }
}
