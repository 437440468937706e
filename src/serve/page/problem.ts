/** Lines that say that something went wrong: a damaged container looks different from a server that is gone. */
import { messageOf, ServerError } from "./api.ts";
import { problemLine } from "./dom.ts";

/** Whether a request failed since the server does not answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ServerError && error.code === "unreachable";
}

/** A line for an error. */
export function problemOf(error: unknown): HTMLElement {
  const line = problemLine(messageOf(error));
  line.classList.toggle("gone", isUnreachable(error));
  return line;
}
