import { workingDirectory } from "../../io/storage/local_path.ts";

/**
 * A path from the root, without `.`, `..` and doubled slashes; symbolic links are not looked at. Of
 * systems that have mounts: Node's `resolve` does the same, and takes Deno 10 ms to load.
 */
export function absolutePath(path: string): string {
  const parts: string[] = [];
  const whole = path.startsWith("/") ? path : `${workingDirectory()}/${path}`;
  for (const part of whole.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
