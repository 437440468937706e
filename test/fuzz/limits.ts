/** Limits on the resources that a case may use, and on the files that it may change. */
import * as fs from "node:fs";
import process from "node:process";
import type { Drive } from "./drives/drive.ts";
import { ESCAPED } from "./mutations/evil.ts";
import { removeAll } from "./remove_all.ts";
import type { Scene } from "./scene.ts";

/** Processor time of a drive in seconds, and more for each MiB of the container. */
const SECONDS = 20;
const SECONDS_PER_MIB = 10;

/** Growth of the process in a drive in MiB, and more for each MiB of the container. */
const MIB = 256;
const MIB_PER_MIB = 64;

/** Formats with images, which are decoded if they have up to 2^27 pixels. */
const HAS_IMAGES = /^(bags|folder|granular\d?|gulp)$/;

/** Runs a drive, and reports excessive time or memory. */
export async function within(
  scene: Scene,
  drive: Drive,
  containerBytes: number,
): Promise<void> {
  const size = containerBytes / 2 ** 20;
  resetPeak();
  const before = memoryOf("VmRSS");
  const started = process.cpuUsage();
  await drive.run(scene);
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  if (seconds > SECONDS + SECONDS_PER_MIB * size) {
    scene.report(
      "slow",
      `${seconds.toFixed(1)} s of processor time for ${containerBytes} bytes`,
    );
  }
  const grown = memoryOf("VmHWM") - before;
  const allowed = HAS_IMAGES.test(scene.original.format) ? drive.memory : MIB;
  if (grown > (allowed ?? MIB) + MIB_PER_MIB * size) {
    scene.report(
      "memory",
      `${grown.toFixed(0)} MiB more for ${containerBytes} bytes`,
    );
  }
}

/** Resets the kernel's record of peak memory. */
function resetPeak(): void {
  fs.writeFileSync("/proc/self/clear_refs", "5");
}

/** Returns a value in MiB. */
function memoryOf(name: "VmRSS" | "VmHWM"): number {
  const status = fs.readFileSync("/proc/self/status", "latin1");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024;
}

const CANARY = "nobody may touch this";

/** Creates the directory of a case, with files that must not be touched. */
export function prepare(directory: string): void {
  const out = `${directory}/out`;
  if (fs.existsSync(out) && fs.readdirSync(out).length > 0) removeAll(out);
  fs.rmSync(directory, { recursive: true, force: true });
  for (const name of ["in", "out", "outside"]) {
    fs.mkdirSync(`${directory}/${name}`, { recursive: true });
  }
  fs.writeFileSync(`${directory}/outside/canary`, CANARY);
  fs.linkSync(`${directory}/../fifo`, `${directory}/fifo`);
}

/** State to compare before and after a case. */
export interface Snapshot {
  readonly container: string;
  readonly open: ReadonlySet<string>;
}

/** Records the state before a case. */
export function snapshot(directory: string): Snapshot {
  return {
    container: listed(`${directory}/in`),
    open: new Set(openFiles(directory)),
  };
}

/** Returns this process's open files below a directory. */
function openFiles(directory: string): string[] {
  return fs.readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const file = fs.readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(`${directory}/`) ? [`${file} as ${fd}`] : [];
    } catch {
      return []; // the descriptor of the listing itself
    }
  });
}

/** Lists a directory recursively, with modes, sizes and times. */
function listed(directory: string): string {
  const lines: string[] = [];
  const list = (path: string) => {
    for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
      const place = `${path}/${entry.name}`;
      const { mtimeMs, size, mode } = fs.lstatSync(place);
      lines.push(
        `${place} ${mode} ${size} ${entry.isDirectory() ? "" : mtimeMs}`,
      );
      if (entry.isDirectory()) list(place);
    }
  };
  list(directory);
  return lines.sort().join("\n");
}

/** Reports descriptors that are still open, and files that were changed. */
export function inspect(scene: Scene, before: Snapshot): void {
  const { directory } = scene;
  scene.begin("afterwards");
  const open = openFiles(directory).filter((file) => !before.open.has(file));
  if (open.length > 0) {
    scene.report("descriptors", `open still: ${open.join(", ")}`);
  }
  if (listed(`${directory}/in`) !== before.container) {
    scene.report("escape", "the container was changed");
  }
  const names = fs.readdirSync(directory).sort().join();
  if (names !== "fifo,in,out,outside") {
    scene.report("escape", `in the directory of the case are ${names}`);
  }
  const outside = fs.readdirSync(`${directory}/outside`).join();
  if (
    outside !== "canary" ||
    fs.readFileSync(`${directory}/outside/canary`, "utf8") !== CANARY
  ) scene.report("escape", `outside the container are ${outside}`);
  const beside = fs.readdirSync(`${directory}/..`).sort().join();
  if (beside !== "case,fifo") {
    scene.report("escape", `beside the directory of the case are ${beside}`);
  }
  if (fs.lstatSync(ESCAPED, { throwIfNoEntry: false }) !== undefined) {
    scene.report("escape", `${ESCAPED} was made`);
    fs.rmSync(ESCAPED, { recursive: true });
  }
}
