/** The layers of the program, from the bottom up, and what each may import besides itself. */
const GROUND = ["src/base", "src/io"];

export const MAY_IMPORT: Record<string, readonly string[]> = {
  "deno.json": [],
  "src/base": [],
  "src/io": ["src/base"],
  "src/codecs": ["src/base"],
  "src/tree": [...GROUND, "src/codecs"],
  "src/convert": [...GROUND, "src/codecs", "src/tree"],
  "src/data": [...GROUND, "src/codecs", "src/tree"],
  "src/formats": [
    ...GROUND,
    "src/codecs",
    "src/tree",
    "src/convert",
    "src/data",
  ],
  "src/open": [
    ...GROUND,
    "src/codecs",
    "src/tree",
    "src/convert",
    "src/data",
    "src/formats",
  ],
  // Depends on no format. From data, it uses the order in which samples are drawn.
  "src/serve": [
    ...GROUND,
    "deno.json",
    "src/codecs",
    "src/tree",
    "src/data",
    "src/open",
  ],
  "fuse": [...GROUND, "src/tree"],
  "src/cli": [
    ...GROUND,
    "deno.json",
    "src/codecs",
    "src/tree",
    "src/convert",
    "src/data",
    "src/formats",
    "src/open",
    "src/serve",
    "fuse",
  ],
};
