import { STATUS_CODES } from "node:http";

/** Cached date header of the current second. */
let dated = { second: -1, text: "" };

/** Formats the head of an HTTP/1.1 response. Names are in lower case; values must not contain line breaks. */
export function answerHead(
  status: number,
  headers: Iterable<readonly [name: string, value: string]>,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  return `${text}date: ${now()}\r\n\r\n`;
}

/** {@linkcode answerHead} of a 200 response with a whole content. */
export function contentHead(
  headers: Readonly<Record<string, string>>,
  length: number,
): string {
  let text = "HTTP/1.1 200 OK\r\n";
  for (const name in headers) text += `${name}: ${headers[name]!}\r\n`;
  return `${text}content-length: ${length}\r\ndate: ${now()}\r\n\r\n`;
}

function now(): string {
  const time = Date.now();
  const second = Math.floor(time / 1000);
  if (dated.second !== second) {
    dated = { second, text: new Date(time).toUTCString() };
  }
  return dated.text;
}
