import { warnOnConsole } from "../../../message_text.ts";
import type { ContainerOptions } from "../../../tree/format.ts";

/** Who is told of what is odd but readable. */
export function warnerOf(options: ContainerOptions): (message: string) => void {
  return options.onWarning ?? warnOnConsole;
}
