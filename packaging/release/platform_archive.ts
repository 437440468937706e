import { packArchive } from "../archive.ts";

/** Systems that a directory for `/opt` is made for: `os-cpu`. */
export const PLATFORMS = ["linux-x64", "linux-arm64"] as const;

/**
 * Makes an archive of one directory with all that a system needs, Deno among it, to be unpacked anywhere. Needs npm
 * and its registry; what comes from there is compared with the hashes of the package's lock file.
 *
 * @param archive The npm package.
 * @param name Of the directory.
 * @param place A directory for what is made on the way.
 */
export async function platformArchive(
  archive: string,
  platform: typeof PLATFORMS[number],
  { name, place, out }: {
    readonly name: string;
    readonly place: string;
    readonly out: string;
  },
): Promise<void> {
  const above = `${place}/${platform}`;
  const root = `${above}/${name}`;
  await Deno.mkdir(root, { recursive: true });
  await run(["tar", "-xzf", archive, "-C", root, "--strip-components=1"]);
  const [os, cpu] = platform.split("-");
  const flags = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-bin-links",
  ];
  await run(
    ["npm", "ci", ...flags, `--os=${os}`, `--cpu=${cpu}`, "--libc=glibc"],
    root,
  );
  await Deno.remove(`${root}/node_modules/.package-lock.json`);
  await run(["chmod", "-R", "a+rX,go-w", root]);
  packArchive(out, above, [...below(above, name)]);
}

/** Files and links, in order. */
function* below(above: string, path: string): Generator<string> {
  const entries = [...Deno.readDirSync(`${above}/${path}`)]
    .toSorted((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* below(above, `${path}/${name}`);
    else yield `${path}/${name}`;
  }
}

async function run(command: readonly string[], cwd?: string): Promise<void> {
  const [program, ...args] = command;
  const { success, stderr } = await new Deno.Command(program!, {
    args,
    ...cwd !== undefined && { cwd },
    stdin: "null",
    stdout: "null",
  }).output();
  if (!success) {
    throw new Error(
      `${command.join(" ")}: ${new TextDecoder().decode(stderr)}`,
    );
  }
}
