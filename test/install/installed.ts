/** Installs the npm package like npm, without npm and a network. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { buildPackage } from "../../packaging/package/build_package.ts";
import { denoCaches } from "../support/programs/programs.ts";

/** An installed package. */
export interface Installed {
  /** Path of the archive. */
  readonly archive: string;
  /** Path of the package's directory in `node_modules`. */
  readonly root: string;
  /** Path of its command. */
  readonly command: string;
}

/** Name of Deno's package for this machine. */
export const PLATFORM = `@deno/linux-${
  Deno.build.arch === "x86_64" ? "x64" : "arm64"
}-glibc`;

/** Part of the lock file. */
interface Shrinkwrap {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}

/**
 * Builds the package, unpacks it to `dir/node_modules`, and adds the packages of its lock file from Deno's cache. Its
 * binary is the Deno that runs the tests.
 */
export async function installPackage(dir: string): Promise<Installed> {
  const { file } = await buildPackage(`${dir}/dist`);
  const root = `${dir}/node_modules/@recordfs/recordfs`;
  fs.mkdirSync(root, { recursive: true });
  await sh(`tar -xzf ${file} -C ${root} --strip-components=1`);
  const cache = `${(await denoCaches()).npmCache}/registry.npmjs.org`;
  const { packages }: Shrinkwrap = JSON.parse(
    fs.readFileSync(`${root}/npm-shrinkwrap.json`, "utf8"),
  );
  const copies: string[] = [];
  for (const [place, { version }] of Object.entries(packages)) {
    const name = place.split("node_modules/").at(-1)!;
    const from = `${cache}/${name}/${version}`;
    // Packages for other systems are not in the cache.
    if (place === "" || !fs.existsSync(from)) continue;
    fs.mkdirSync(`${root}/${place}`, { recursive: true });
    copies.push(`cp -r ${from}/. ${root}/${place}`);
  }
  await sh(copies.join(" && "));
  fs.mkdirSync(`${root}/node_modules/${PLATFORM}`, { recursive: true });
  // A copy, since an ordinary user could not follow a link into root's home.
  fs.copyFileSync(Deno.execPath(), `${root}/node_modules/${PLATFORM}/deno`);
  // Like npm, makes all files readable for everybody, whatever the modes in archives and the umask are.
  await sh(`chmod -R a+rX ${dir}/node_modules`);
  fs.chmodSync(dir, 0o755);
  return { archive: file, root, command: `${root}/bin/recordfs` };
}

/** How a program ended, and its output. */
export interface Ended {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with only this environment. */
export async function runClean(
  command: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<Ended> {
  const [program, ...args] = command;
  const { code, signal, stdout, stderr } = await new Deno.Command(program!, {
    args,
    clearEnv: true,
    env: { PATH: "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", ...env },
    ...cwd !== undefined && { cwd },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, signal, stdout: text(stdout), stderr: text(stderr) };
}

/** Runs a shell script, which must succeed. */
export async function sh(script: string): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-ec", script],
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert.equal(code, 0, text(stdout) + text(stderr));
  return text(stdout);
}
