// deno-lint-ignore-file no-console -- a program for the terminal
/** Builds the npm package: `deno task npm [DIRECTORY]`, `dist` unless told otherwise. */
import { buildPackage } from "./package/build_package.ts";
import { DIST } from "./repository.ts";

const { file, files, bytes, unpacked } = await buildPackage(
  Deno.args[0] ?? DIST,
);
const kilobytes = (count: number) => `${Math.ceil(count / 1000)} kB`;
console.log(
  `${file}: ${files} files, ${kilobytes(bytes)}, unpacked ${
    kilobytes(unpacked)
  }`,
);
