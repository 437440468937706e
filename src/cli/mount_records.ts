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
  return `${makeStateDirectory()}/${crypto.randomUUID()}.json`;
}

/** The path of the log that belongs to a record. */
export function logOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, ".log");
}

/** Writes a record, all at once: another process may be reading. */
export function writeRecord(path: string, record: MountRecord): void {
  const temporary = `${path}.part`;
  Deno.writeTextFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, {
    mode: 0o600,
  });
  Deno.renameSync(temporary, path);
}

/** Removes a record or a log, if it is still there. */
export function removeFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The records of all mounts of this user whose process still runs. */
export function runningMounts(): MountRecord[] {
  return stateDirectories().flatMap((directory) =>
    namesIn(directory, ".json").map((name) => read(`${directory}/${name}`))
  ).filter((record) =>
    record !== undefined && isRunning(record)
  ) as MountRecord[];
}

/** Removes records of mounts that have ended, and old logs. */
export function pruneRecords(): void {
  const directory = makeStateDirectory();
  for (const name of namesIn(directory, ".json")) {
    const path = `${directory}/${name}`;
    const record = read(path);
    if (record === undefined || !isRunning(record)) removeFile(path);
  }
  const kept = new Set(namesIn(directory, ".json"));
  for (const name of namesIn(directory, ".log")) {
    const path = `${directory}/${name}`;
    if (kept.has(name.replace(/\.log$/, ".json"))) continue;
    if (Date.now() - lastChange(path) > KEEP_LOGS_MS) removeFile(path);
  }
}

/** When a file was changed last, in milliseconds since 1970; 0 if it is gone. */
function lastChange(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0; // removed meanwhile
  }
}

function namesIn(directory: string, ending: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name)
      .filter((name) => name.endsWith(ending));
  } catch {
    return []; // not there, or not for this user
  }
}

function read(path: string): MountRecord | undefined {
  try {
    return JSON.parse(Deno.readTextFileSync(path)) as MountRecord;
  } catch {
    return undefined; // removed meanwhile
  }
}
