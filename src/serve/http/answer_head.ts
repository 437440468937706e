import { STATUS_CODES } from "node:http";

/** The time, as answers say it, of the second that it was asked for last. */
let dated = { second: -1, text: "" };

/**
 * The head of an answer of HTTP/1.1, as it is sent.
 *
 * @param headers Names in lower case with their values, which have no end of a line.
 */
export function answerHead(
  status: number,
  headers: Iterable<readonly [name: string, value: string]>,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  return `${text}date: ${now()}\r\n\r\n`;
}

/** {@linkcode answerHead} of a whole content that is as it was asked for. */
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
