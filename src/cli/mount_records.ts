import * as fs from "node:fs";
import { isRunning, type ProcessId } from "./processes.ts";
import { makeStateDirectory, stateDirectories } from "./state_directory.ts";

/** What is kept of a running mount, in a file of its own. */
export interface MountRecord extends ProcessId {
  readonly source: string;
  readonly mountpoint: string;
  /** Path of the log; `null` for a mount in the foreground. */
  readonly log: string | null;
  /** When it was mounted. */
  readonly started: string;
  readonly version: string;
}

/** Logs of mounts that ended badly are kept this long. */
const KEEP_LOGS_MS = 7 * 24 * 3600 * 1000;

/** Makes up the path of a new record. The mount's log has the same path with {@linkcode logOf}. */
export function newRecordPath(): string {
  const directory = makeStateDirectory();
  prune(directory);
  return `${directory}/${crypto.randomUUID()}.json`;
}

/** The path of the log that belongs to a record. */
export function logOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, ".log");
}

/** Writes a record, all at once: another process may be reading. */
export function writeRecord(path: string, record: MountRecord): void {
  const temporary = `${path}.part`;
  fs.writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, {
    mode: 0o600,
  });
  fs.renameSync(temporary, path);
}

/** Removes a record, if it is still there. */
export function removeRecord(path: string): void {
  fs.rmSync(path, { force: true });
}

/** The records of all mounts of this user whose process still runs. */
export function runningMounts(): MountRecord[] {
  return stateDirectories().flatMap((directory) =>
    namesIn(directory, ".json").map((name) => read(`${directory}/${name}`))
  ).filter((record) =>
    record !== undefined && isRunning(record)
  ) as MountRecord[];
}

function prune(directory: string): void {
  for (const name of namesIn(directory, ".json")) {
    const path = `${directory}/${name}`;
    const record = read(path);
    if (record === undefined || !isRunning(record)) removeRecord(path);
  }
  const kept = new Set(namesIn(directory, ".json"));
  for (const name of namesIn(directory, ".log")) {
    const path = `${directory}/${name}`;
    const age = Date.now() -
      (fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (!kept.has(name.replace(/\.log$/, ".json")) && age > KEEP_LOGS_MS) {
      fs.rmSync(path, { force: true });
    }
  }
}

function namesIn(directory: string, ending: string): string[] {
  try {
    return fs.readdirSync(directory).filter((name) => name.endsWith(ending));
  } catch {
    return []; // not there, or not for this user
  }
}

function read(path: string): MountRecord | undefined {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8")) as MountRecord;
  } catch {
    return undefined; // removed meanwhile
  }
}
