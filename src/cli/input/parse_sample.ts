import { strictUtf8Text, withoutByteOrderMark } from "../../base/utf8.ts";

export class SampleError extends Error {
  override name = "SampleError";
}

const encoder = new TextEncoder();

const FORMS = `"<base64>", {"base64": "<base64>"} or {"text": "<text>"}`;

/**
 * Decodes a line of JSON: a base64 string, or an object with `base64`, or with `text`, which is encoded as UTF-8.
 * Throws {@linkcode SampleError} for anything else.
 */
export function parseSample(line: Uint8Array): Uint8Array {
  const value = parseJson(line);
  if (typeof value === "string") return fromBase64(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SampleError(`a sample must be ${FORMS}, not ${kindOf(value)}`);
  }
  const [[key, content] = [], another] = Object.entries(value);
  if (another !== undefined || key !== "base64" && key !== "text") {
    const keys = Object.keys(value).slice(0, 5).map((key) => `"${key}"`);
    throw new SampleError(
      `a sample must be ${FORMS}, not an object ` +
        (keys.length === 0 ? "without keys" : `with ${keys.join(", ")}`),
    );
  }
  if (typeof content !== "string") {
    throw new SampleError(`its "${key}" is ${kindOf(content)}, not a string`);
  }
  return key === "text" ? toUtf8(content) : fromBase64(content);
}

function parseJson(line: Uint8Array): unknown {
  if (line.length === 0) throw new SampleError("it is empty");
  let text: string;
  try {
    text = withoutByteOrderMark(strictUtf8Text(line));
  } catch {
    throw new SampleError("it is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SampleError(`it is not JSON (${(error as Error).message})`);
  }
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    throw new SampleError(
      "its base64 is invalid: it has other characters than A-Z a-z 0-9 + / =, " +
        "or is truncated",
    );
  }
}

function toUtf8(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  throw new SampleError(
    "its text has an unpaired surrogate",
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
