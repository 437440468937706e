import {
  FormatError,
  IndexError,
  PathError,
  RecordfsError,
  WriteError,
} from "../../../errors.ts";
import { DataError } from "../../data_error.ts";
import { BatchError } from "../batch_error.ts";

/** An error on its way to another thread. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: SentError | undefined;
  /** Its other facts, such as `code`, `path` and `sample`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** How many causes of causes are sent: an error may be its own. */
const DEEPEST = 8;

/** Makes an error ready to be sent; whatever was thrown arrives as an error. */
export function sendError(error: unknown, depth = 0): SentError {
  if (!(error instanceof Error)) {
    return {
      name: "Error",
      message: String(error),
      stack: undefined,
      cause: undefined,
      facts: {},
    };
  }
  const { name, message, stack, cause } = error;
  const facts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error)) {
    if (isPlain(value)) facts[key] = value;
  }
  const hasCause = cause !== undefined && cause !== null && depth < DEEPEST;
  return {
    name: String(name),
    message,
    stack,
    cause: hasCause ? sendError(cause, depth + 1) : undefined,
    facts,
  };
}

/** What a fact may be to be sent: a number, a text, or a list of such. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  return value === null ||
    ["number", "string", "boolean", "bigint"].includes(typeof value);
}

/** The error that was sent: of the same class where that is known here, and with its stack. */
export function receiveError(sent: SentError): Error {
  const { name, message, stack, cause, facts } = sent;
  const error = cause === undefined
    ? new Error(message)
    : new Error(message, { cause: receiveError(cause) });
  const known = classOf(name);
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  Object.assign(error, facts);
  if (error.name !== name) define(error, "name", name);
  if (stack !== undefined) define(error, "stack", stack);
  return error;
}

function define(error: Error, key: "name" | "stack", value: string): void {
  Object.defineProperty(error, key, {
    value,
    configurable: true,
    writable: true,
  });
}

const OWN: Readonly<Record<string, { readonly prototype: object }>> = {
  BatchError,
  DataError,
  FormatError,
  IndexError,
  PathError,
  RecordfsError,
  WriteError,
};

const BUILT_IN: Readonly<Record<string, { readonly prototype: object }>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

function classOf(name: string): { readonly prototype: object } | undefined {
  for (const known of [OWN, BUILT_IN, Deno.errors]) {
    if (Object.hasOwn(known, name)) {
      return (known as Record<string, { readonly prototype: object }>)[name];
    }
  }
  return undefined;
}
