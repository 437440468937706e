import { packageFile } from "../../../base/packages.ts";

/** The system's library, which has the functions below from version 3 on. */
const SYSTEM: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  linux: ["libturbojpeg.so.0"],
  darwin: ["libturbojpeg.dylib", "/opt/homebrew/lib/libturbojpeg.dylib"],
  windows: ["turbojpeg.dll"],
};

/** Declarations of libjpeg-turbo 3's turbojpeg.h. */
const SYMBOLS = {
  tj3Init: { parameters: ["i32"], result: "pointer" },
  tj3Destroy: { parameters: ["pointer"], result: "void" },
  tj3Set: { parameters: ["pointer", "i32", "i32"], result: "i32" },
  tj3Get: { parameters: ["pointer", "i32"], result: "i32" },
  tj3DecompressHeader: {
    parameters: ["pointer", "buffer", "usize"],
    result: "i32",
  },
  tj3SetScalingFactor: {
    parameters: ["pointer", { struct: ["i32", "i32"] }],
    result: "i32",
  },
  tj3SetCroppingRegion: {
    parameters: ["pointer", { struct: ["i32", "i32", "i32", "i32"] }],
    result: "i32",
  },
  tj3Decompress8: {
    parameters: ["pointer", "buffer", "usize", "buffer", "i32", "i32"],
    result: "i32",
  },
  tj3JPEGBufSize: { parameters: ["i32", "i32", "i32"], result: "usize" },
  tj3Compress8: {
    parameters: [
      ...["pointer", "buffer", "i32", "i32", "i32", "i32"] as const,
      ...["buffer", "buffer"] as const,
    ],
    result: "i32",
  },
  tj3GetErrorStr: { parameters: ["pointer"], result: "pointer" },
} as const;

export type TurboJpeg = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Opens the library, preferably the npm package's, else the system's. */
export async function loadTurboJpeg(): Promise<TurboJpeg> {
  const failures: string[] = [];
  for (const find of [() => ownLibrary(), ...systemLibraries()]) {
    try {
      return Deno.dlopen(await find(), SYMBOLS).symbols;
    } catch (error) {
      failures.push((error as Error).message.split("\n")[0]!);
    }
  }
  throw new Error(failures.join("; "));
}

function systemLibraries(): (() => string)[] {
  return (SYSTEM[Deno.build.os] ?? []).map((path) => () => path);
}

/**
 * Returns the path of the library in npm's `@julusian/jpeg-turbo`, which has one only for Linux. The package's own
 * binding is not used: its faster transform is off by up to 6.
 */
async function ownLibrary(): Promise<URL> {
  const { os, arch } = Deno.build;
  if (os !== "linux") throw new Error(`npm has none for ${os}`);
  const platform = arch === "aarch64" ? "linux-arm64" : "linux-x64";
  const folder = `prebuilds/jpeg-turbo-${platform}`;
  return await packageFile("turboJpeg", `${folder}/libturbojpeg.so.0`);
}
