type NodeFs = typeof import("node:fs");

let loaded: NodeFs | undefined;

/**
 * `node:fs`, loaded when it is first needed: that takes Deno 20 ms, in which a mount of files that the
 * C library opens and reads can answer already.
 */
export function nodeFs(): NodeFs {
  return loaded ??= process.getBuiltinModule("node:fs");
}
