import { isOutputClosed } from "./closed_output.ts";
import { RecordfsError } from "../../base/errors.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import { escapeUnshown, escapeUtf16 } from "../../base/message_text.ts";
import { encodeName } from "../../base/names.ts";
import { makeWay } from "../messages.ts";

const CAPACITY = 1 << 16;

/** Characters that terminals do not show. Names are already escaped; JSON values get the same, valid escapes. */
const UNSHOWN = /[\p{Cf}\x7f-\x9f\u2028\u2029]/gu;

/** Buffered standard output for text, with names as their exact bytes, and for raw bytes. */
export class Output {
  readonly #buffer = new Uint8Array(CAPACITY);
  #length = 0;
  readonly #shown = textWriter();

  /** Adds text; a lone surrogate U+DC80 … U+DCFF becomes the byte it stands for. */
  put(text: string): void {
    this.putBytes(encodeName(this.#shown(text)));
  }

  putBytes(bytes: Uint8Array): void {
    if (this.#length + bytes.byteLength > CAPACITY) this.flush();
    if (bytes.byteLength > CAPACITY) return write(bytes);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.byteLength;
  }

  flush(): void {
    const length = this.#length;
    this.#length = 0;
    write(this.#buffer.subarray(0, length));
  }
}

/** Returns a function that formats names for standard output: escaped on a terminal, otherwise exact. */
export function nameWriter(): (name: string) => string {
  return Deno.stdout.isTerminal() ? escapeUnshown : (name) => name;
}

function textWriter(): (text: string) => string {
  return Deno.stdout.isTerminal()
    ? (text) => text.replaceAll(UNSHOWN, escapeUtf16)
    : (text) => text;
}

/** Whether a command has written to standard output. */
export const output = { isBegun: false };

/** Writes a command's result immediately: text, or an object as JSON, on one line if `indent` is 0. */
export function print(answer: string | object, indent = 2): void {
  const text = typeof answer === "string"
    ? answer
    : `${JSON.stringify(answer, exactNumbers, indent)}\n`;
  write(encodeName(textWriter()(text)));
}

function write(bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  requireOpenOutput();
  output.isBegun = true;
  makeWay();
  try {
    for (let done = 0; done < bytes.byteLength;) {
      done += Deno.stdout.writeSync(bytes.subarray(done));
    }
  } catch (error) {
    throw outputError(error);
  }
}

/** Converts counts beyond 2^53, which are bigints, to text: JSON has no bigints. */
function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function outputError(error: unknown): unknown {
  const code = systemCode(error);
  // The reader has closed the pipe deliberately: report nothing.
  if (code === undefined || code === "EPIPE") return error;
  const reason = (error as Error).message.replace(/ \(os error \d+\)$/, "");
  return new RecordfsError(
    code,
    `Cannot write to standard output: ${reason}`,
    { cause: error },
  );
}

let isOpen = false;

/** @throws {RecordfsError} If standard output is closed, so that everything written would be lost. */
function requireOpenOutput(): void {
  if (!isOpen && isOutputClosed()) {
    throw new RecordfsError(
      "EBADF",
      "Cannot write to standard output: it is closed. Redirect it to a file, or to /dev/null",
    );
  }
  isOpen = true;
}

/** Runs `body` with standard output, and flushes it at the end, even on failure. */
export async function withOutput(
  body: (out: Output) => Promise<void> | void,
): Promise<void> {
  const out = new Output();
  try {
    await body(out);
  } finally {
    out.flush();
  }
}
