import type { ContainerOptions } from "../../tree/format.ts";

/** Who is told of what is odd but readable. */
export function warnerOf(options: ContainerOptions): (message: string) => void {
  // deno-lint-ignore no-console -- a library's warning has no other place by default
  return options.onWarning ?? ((message) => console.warn(message));
}
