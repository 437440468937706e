import { MOST_WORKERS } from "../../../fuse/limits.ts";
import type { PlacedSource } from "../input/given.ts";
import type { RemoteFlags } from "../input/remote_flags.ts";
import type { HiddenArguments, MountJob } from "./job/mount_job.ts";
import type { MountRecord, SupervisedMount } from "./mount_records.ts";

/** Checks a field's value; may return the path of the nested field that is wrong. */
type Check = (value: unknown) => boolean | readonly [field: string];

type Shape<T> = { readonly [Name in keyof Required<T>]: Check };

/** Upper bound of descriptors: the kernel's highest limit unless raised (`fs.nr_open`). */
const DESCRIPTORS = 1 << 20;
/** Upper bound of process ids: `PID_MAX_LIMIT` of the kernel. */
const PROCESSES = 1 << 22;
const USERS = 2 ** 32 - 1;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isCount = wholeNumber(0, Number.MAX_SAFE_INTEGER);
/** Bits as a signed number, as in `Int32Array`. */
const isBits = wholeNumber(-(2 ** 31), 2 ** 31 - 1);
const isDescriptor = wholeNumber(0, DESCRIPTORS - 1);
const isPath: Check = (value) =>
  typeof value === "string" && value.startsWith("/") && !value.includes("\0");

const PROCESS = {
  // 0 and negative ids are process groups, and 1 is init.
  pid: wholeNumber(2, PROCESSES - 1),
  startTicks: isCount,
  uid: wholeNumber(0, USERS - 1),
};

const SOURCES = listOf(shaped<PlacedSource>({
  location: (value) => typeof value === "string" && value !== "",
  path: optional(isText),
}));

const REMOTE = shaped<RemoteFlags>({
  header: optional(listOf(isText)),
  headerFile: optional(isPath),
  cacert: optional(isPath),
  endpoint: optional(isText),
  addressing: optional(isText),
  region: optional(isText),
  profile: optional(isText),
  anonymous: optional(isFlag),
  requesterPays: optional(isFlag),
  cacheDir: optional(isPath),
  cacheSize: optional(isCount),
  cache: optional(isFlag),
  cacheShared: optional(isFlag),
  timeout: optional(isNumber),
  maxRequests: optional(isCount),
});

const JOB = shaped<MountJob>({
  source: isText,
  sources: SOURCES,
  mountpoint: isPath,
  options: isText,
  format: optional(isText),
  formatModules: optional(listOf(isText)),
  ext: optional(isText),
  maxRatio: optional(isCount),
  nested: (value) =>
    value === undefined || value === true || listOf(isText)(value) === true,
  stripSuffix: optional(isFlag),
  decoded: isFlag,
  prefix: optional(isText),
  subset: optional(isPath),
  shuffle: optional(
    shaped({ seed: isCount, firstEpoch: isCount, epochs: isCount }),
  ),
  trace: isFlag,
  workers: optional(wholeNumber(1, MOST_WORKERS)),
  remote: optional(REMOTE),
  onFailure: (value) => value === "dead" || value === "unmount",
});

const SUPERVISED = shaped<SupervisedMount>({
  supervisor: shaped(PROCESS),
  restarts: isCount,
  servingTicks: isCount,
  agreed: shaped({ minor: isCount, flags: isBits, moreFlags: isBits }),
  resumable: isFlag,
  counts: orNull(isDescriptor),
  held: listOf(isDescriptor, MOST_WORKERS),
});

const RECORD = shaped<MountRecord>({
  ...PROCESS,
  source: isText,
  mountpoint: isPath,
  log: orNull(isPath),
  started: isText,
  mountedTicks: isCount,
  version: isText,
  // Empty if the mount was gone before it could be read.
  device: (value) => typeof value === "string" && /^(\d+:\d+)?$/.test(value),
  job: JOB,
  container: orNull(isText),
  supervised: orNull(SUPERVISED),
});

const HIDDEN = shaped<HiddenArguments>({ sources: SOURCES, remote: REMOTE });

/** @throws {SyntaxError} If the text is not a valid record. */
export function parseRecord(text: string): MountRecord {
  return parsed(text, RECORD) as MountRecord;
}

/** @throws {SyntaxError} If the text is not valid. */
export function parseHidden(text: string): HiddenArguments {
  return parsed(text, HIDDEN) as HiddenArguments;
}

function parsed(text: string, check: Check): unknown {
  const value = jsonOf(text);
  const answer = check(value);
  if (answer === true) return value;
  throw new SyntaxError(
    answer === false
      ? "it is not an object"
      : `its field ${answer[0]} is wrong`,
  );
}

/** Parses JSON. Drops V8's error, which quotes the text: part of it may be secret. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("it is not JSON");
  }
}

function shaped<T>(shape: Shape<T>): Check {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return false;
    }
    for (const [name, check] of Object.entries<Check>(shape)) {
      const field = Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
      const answer = check(field);
      if (answer === true) continue;
      return [answer === false ? name : `${name}.${answer[0]}`];
    }
    return true;
  };
}

function listOf(check: Check, most = Infinity): Check {
  return (value) =>
    Array.isArray(value) && value.length <= most &&
    value.every((one) => check(one) === true);
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

function wholeNumber(least: number, most: number): Check {
  return (value) =>
    Number.isSafeInteger(value) && value as number >= least &&
    value as number <= most;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}
