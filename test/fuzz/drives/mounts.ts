/** Real mounts: programs must read the same as the API, and the mount must end on request. */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { mount } from "../../../fuse/mount_container.ts";
import { encodeName } from "../../../src/base/names.ts";
import { open } from "../../../src/open/open.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { needs } from "../../support/programs/programs.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST_FILES = 500;
const MOST_BYTES = 32 << 20;

/** Reads files whose paths are on standard input, separated by NUL. Prints the checksum of each, or `failed`. */
const READ_ALL = `
while IFS= read -r -d '' path; do
  if sum=$(sha256sum < "$path" 2>/dev/null); then echo "\${sum%% *}"; else echo failed; fi
done`;

/** Counts the entries of a walk by type. Links to files count as files, as in the API; other links are ignored. */
const WALK =
  "find . -mindepth 1 \\( ! -type l -printf '%y\\n' -o -xtype f -printf 'f\\n' \\) 2>/dev/null | sort | uniq -c";

const { ignore } = needs("fuse", "bash");

export const mountDrive: Drive = {
  name: "mount",
  every: 250,
  fits: () => !ignore,
  memory: 512,
  run,
};

async function run(scene: Scene): Promise<void> {
  const mountpoint = scene.output();
  fs.mkdirSync(mountpoint);
  const options = { ...QUIET, decoded: scene.dice.once(3) };
  const opened = await scene.attempt("open", () => open(scene.path, options));
  const mounted = await scene.attempt(
    "mount",
    () => mount(scene.path, mountpoint, { ...options, onLog() {} }),
  );
  if (mounted.ok) {
    if (opened.ok) await compare(scene, opened.value, mountpoint);
    await scene.attempt("stat of the mount", () => {
      if (!fs.statSync(mountpoint).isDirectory()) {
        throw new Error("no directory");
      }
    });
    await scene.attempt("unmount", () => mounted.value.unmount());
    const { failure } = await mounted.value.finished;
    if (failure !== undefined && opened.ok) {
      scene.report("mount", `the mount ended: ${failure.message}`);
    }
  } else if (opened.ok) {
    scene.report("mount", `opened, but not mounted: ${mounted.error}`);
  }
  if (opened.ok) opened.value.close();
}

async function compare(
  scene: Scene,
  api: VirtualFs,
  mountpoint: string,
): Promise<void> {
  const walked = await scene.attempt("walk", () => Array.fromAsync(api.walk()));
  if (!walked.ok) return;
  const files = walked.value.filter(({ isFile }) => isFile)
    .map(({ path }) => path);
  const directories = walked.value.length - files.length;
  const found = await sh(WALK, mountpoint, new Uint8Array(0));
  const count = (kind: string) =>
    Number(new RegExp(`(\\d+) ${kind}$`, "m").exec(found)?.[1] ?? 0);
  const [shownFiles, shownDirectories] = [count("f"), count("d")];
  if (shownFiles !== files.length || shownDirectories !== directories) {
    scene.report(
      "mount",
      `the API shows ${files.length} files and ${directories} directories, ` +
        `the mount ${shownFiles} and ${shownDirectories}`,
    );
  }
  const sums: [path: string, sum: string][] = [];
  let left = MOST_BYTES;
  for (const path of scene.dice.some(files, MOST_FILES)) {
    const stat = await scene.attempt("stat", () => api.stat(path));
    if (stat.ok && (left -= stat.value.size) < 0) break;
    const read = await scene.attempt("read", () => api.read(path));
    sums.push([path, read.ok ? sha256(read.value) : "failed"]);
  }
  const names = sums.flatMap((
    [path],
  ) => [encodeName(`./${path}`), Uint8Array.of(0)]);
  const list = new Uint8Array(
    await new Blob(names as BlobPart[]).arrayBuffer(),
  );
  const said = (await sh(READ_ALL, mountpoint, list)).split("\n");
  sums.forEach(([path, sum], i) => {
    if (said[i] === sum) return;
    scene.report(
      "mount",
      `${path}: by the API ${sum}, by the mount ${said[i]}`,
    );
  });
}

async function sh(
  script: string,
  cwd: string,
  input: Uint8Array,
): Promise<string> {
  const child = new Deno.Command("bash", {
    args: ["-c", script],
    cwd,
    // In other locales, bash takes the NUL after a truncated character for a part of it.
    env: { LC_ALL: "C" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(input as Uint8Array<ArrayBuffer>).catch(() => {});
  await writer.close().catch(() => {});
  return new TextDecoder().decode((await output).stdout);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
