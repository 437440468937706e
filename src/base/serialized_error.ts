/**
 * Serializes errors for other threads. Structured cloning keeps neither their classes nor their fields.
 *
 * @module
 */
import * as errors from "./errors.ts";

/** An error as plain data, which survives `postMessage`. */
export interface SerializedError {
  /** Names of its classes, most derived first. */
  readonly classes: readonly string[];
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: SerializedError | undefined;
  /** Other fields, such as `code`, `path` and `sample`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Class whose instances hold only plain fields. */
interface ErrorClass {
  readonly name: string;
  readonly prototype: object;
}

const COMMON: readonly ErrorClass[] = [
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  ...Object.values(errors),
];

/** Longest chain of causes that is serialized: an error may be its own cause. */
const DEEPEST = 8;

/** Serializes an error. A thrown value that is not an `Error` is wrapped in one. */
export function serializeError(thrown: unknown, depth = 0): SerializedError {
  const error = thrown instanceof Error
    ? thrown
    : new Error(typeof thrown === "string" ? thrown : Deno.inspect(thrown));
  const { name, message, stack, cause } = error;
  const hasCause = cause !== undefined && cause !== null && depth < DEEPEST;
  return {
    classes: classesOf(error),
    name: String(name),
    message,
    stack: error === thrown ? stack : undefined,
    cause: hasCause ? serializeError(cause, depth + 1) : undefined,
    facts: Object.fromEntries(
      Object.entries(error).filter(([, value]) => isPlain(value)),
    ),
  };
}

/** Restores an error with fields and stack, as the most derived class that `known`, `errors.ts` or the runtime has. */
export function deserializeError(
  data: SerializedError,
  ...known: ErrorClass[]
): Error {
  const { classes, name, message, stack, cause, facts } = data;
  const error = cause === undefined
    ? new Error(message)
    : new Error(message, { cause: deserializeError(cause, ...known) });
  const candidates = [...known, ...COMMON, ...Object.values(Deno.errors)];
  for (const one of classes) {
    const found = candidates.find((candidate) => candidate.name === one);
    if (found === undefined) continue;
    Object.setPrototypeOf(error, found.prototype);
    break;
  }
  Object.assign(error, facts);
  if (error.name !== name) define(error, "name", name);
  if (stack !== undefined) define(error, "stack", stack);
  return error;
}

function classesOf(error: Error): string[] {
  const classes: string[] = [];
  let prototype = Object.getPrototypeOf(error);
  while (prototype !== null && prototype !== Object.prototype) {
    classes.push(String(prototype.constructor?.name));
    prototype = Object.getPrototypeOf(prototype);
  }
  return classes;
}

/** Whether a value is a primitive that can be cloned, or an array or plain object of such. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) {
    return typeof value !== "function" && typeof value !== "symbol";
  }
  const isSimple = Array.isArray(value) ||
    Object.getPrototypeOf(value) === Object.prototype;
  return isSimple && depth < DEEPEST &&
    Object.values(value).every((part) => isPlain(part, depth + 1));
}

function define(error: Error, key: "name" | "stack", value: string): void {
  Object.defineProperty(error, key, {
    value,
    configurable: true,
    writable: true,
  });
}
