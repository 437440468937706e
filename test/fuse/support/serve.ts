/**
 * Mounts a small tree at the first argument and prints "ready". With the second argument `busy`, exits with code 7
 * while a program has a file open; otherwise serves until the mount ends. The variable MOUNT_OPTIONS has the mount's
 * options as JSON.
 */
import { mountTree } from "../../../fuse/mount.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { MemoryTree } from "./memory_tree.ts";

const [mountpoint, mode] = Deno.args as [string, string | undefined];
const options = JSON.parse(Deno.env.get("MOUNT_OPTIONS") ?? "{}");
const tree = MemoryTree.of({ "a.txt": "hello", d: { e: "deep" } });
const say = (line: string) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

try {
  const mount = await mountTree(tree, mountpoint, options);
  say("ready");
  const path = `${mount.mountpoint}/a.txt`;
  if (mode === "busy") {
    // In another process: a process that dies with an open file of its own mount waits for itself to flush it.
    const user = new Deno.Command("sh", {
      args: ["-c", 'exec 3<"$1"; echo open; exec sleep 2', "sh", path],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    });
    const { stdout } = user.spawn();
    await stdout.getReader().read();
    Deno.exit(7);
  } else if (mode === "force") {
    const file = await Deno.open(path);
    say(await Deno.readTextFile(path));
    await mount.unmount().catch((error: MountError) => say(error.code));
    await mount.unmount({ force: true });
    await mount.finished;
    file.close();
    say("ended");
  } else if (mode === "read") {
    say(await Deno.readTextFile(path));
    say(String((await Deno.stat(path)).uid));
    await mount.unmount();
    say("ended");
  } else {
    await mount.finished;
  }
} catch (error) {
  if (!(error instanceof MountError)) throw error;
  say(`${error.code}: ${error.message}`);
}
