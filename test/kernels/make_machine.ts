/** Makes a machine's kernel and initrd from Debian's packages, without installing them. */
import * as fs from "node:fs";
import { join } from "node:path";
import { type Machine, USERLAND } from "./machines.ts";

const MIRROR = "http://deb.debian.org/debian";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Files of packages that a machine does not need. */
const LEFT_OUT = ["usr/share/doc", "usr/share/man", "usr/share/locale"];

/** Paths of a machine's parts. */
export interface MadeMachine {
  readonly kernel: string;
  readonly initrd: string;
}

/** Runs a command. Its error output is included in the error if it fails. */
async function run(
  command: readonly string[],
  signal: AbortSignal,
  cwd?: string,
): Promise<void> {
  const [program, ...args] = command;
  const { success, stderr } = await new Deno.Command(program!, {
    args,
    ...cwd !== undefined && { cwd },
    stdin: "null",
    stdout: "null",
    signal,
  }).output();
  signal.throwIfAborted();
  if (success) return;
  throw new Error(
    `Cannot run ${command.slice(0, 4).join(" ")}: ${
      new TextDecoder().decode(stderr).trim().slice(-500)
    }`,
  );
}

/**
 * Makes a machine.
 *
 * @param archive The release's archive, which is unpacked to `/opt`.
 * @param script Script that the machine runs as `/test.sh`.
 * @param place Directory of the machine. Packages in it are not fetched again.
 */
export async function makeMachine(
  machine: Machine,
  archive: string,
  script: string,
  place: string,
  signal: AbortSignal,
): Promise<MadeMachine> {
  const apt = aptOf(machine, join(place, "apt"));
  await run([...apt, "update"], signal);
  const packages = join(place, "apt/archives");
  await run([
    ...apt,
    "install",
    "--download-only",
    "-y",
    "--no-install-recommends",
    ...USERLAND,
    machine.kernel,
  ], signal);
  const root = join(place, "root");
  fs.rmSync(root, { recursive: true, force: true });
  fs.mkdirSync(root);
  // With a merged /usr, packages of older suites must not replace these links by directories.
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    fs.mkdirSync(join(root, "usr", name), { recursive: true });
    fs.symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const file of fs.readdirSync(packages)) {
    if (!file.endsWith(".deb")) continue;
    const data =
      `dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"`;
    await run(["sh", "-euc", data, "sh", join(packages, file), root], signal);
  }
  for (const path of LEFT_OUT) {
    fs.rmSync(join(root, path), { recursive: true, force: true });
  }
  const kernel = join(place, "kernel");
  const boot = join(root, "boot");
  const image = fs.readdirSync(boot).find((name) => name.startsWith("vmlinuz"));
  if (image === undefined) throw new Error(`${machine.kernel} has no kernel`);
  fs.copyFileSync(join(boot, image), kernel);
  fs.rmSync(boot, { recursive: true });
  keepModules(root);
  fs.mkdirSync(join(root, "opt"), { recursive: true });
  await run(["tar", "-xzf", archive, "-C", join(root, "opt")], signal);
  for (const name of ["proc", "sys", "dev", "tmp", "run", "mnt", "root"]) {
    fs.mkdirSync(join(root, name), { recursive: true });
  }
  // Normally done by the packages' scripts, which are not run.
  fs.chmodSync(join(root, "usr/bin/fusermount3"), 0o4755);
  fs.rmSync(join(root, "etc/mtab"), { force: true });
  fs.symlinkSync("/proc/self/mounts", join(root, "etc/mtab"));
  fs.writeFileSync(join(root, "init"), INIT, { mode: 0o755 });
  fs.writeFileSync(join(root, "test.sh"), script, { mode: 0o755 });
  fs.writeFileSync(join(root, "etc/passwd"), PASSWD);
  fs.writeFileSync(join(root, "etc/group"), "root:x:0:\nuser:x:1000:\n");
  const initrd = join(place, "initrd");
  const pack = 'find . | cpio -o -H newc --quiet >"$1"';
  await run(["sh", "-euc", pack, "sh", initrd], signal, root);
  return { kernel, initrd };
}

/** Removes all kernel modules except FUSE's, since all of them would not fit memory. */
function keepModules(root: string): void {
  for (const above of ["usr/lib/modules", "lib/modules"]) {
    const modules = join(root, above);
    if (!fs.existsSync(modules)) continue;
    const names = fs.readdirSync(modules, {
      recursive: true,
      encoding: "utf8",
    });
    for (const name of names) {
      const path = join(modules, name);
      const isFile = fs.lstatSync(path, { throwIfNoEntry: false })?.isFile();
      if (isFile && !/\/(fuse|virtiofs)\.ko/.test(path)) fs.rmSync(path);
    }
    return;
  }
}

/** Returns an apt command with its own root, which only uses this machine's keyring and changes nothing on it. */
function aptOf({ suite, architecture }: Machine, place: string): string[] {
  for (const name of ["lists/partial", "archives/partial", "empty"]) {
    fs.mkdirSync(join(place, name), { recursive: true });
  }
  fs.writeFileSync(join(place, "status"), "");
  fs.writeFileSync(
    join(place, "sources.list"),
    `deb [signed-by=${KEYRING}] ${MIRROR} ${suite} main\n`,
  );
  const options = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "Acquire::Languages": "none",
    "APT::Sandbox::User": "root",
    "Dir::Cache::archives": join(place, "archives/"),
    "Dir::Etc::parts": join(place, "empty"),
    "Dir::Etc::preferencesparts": join(place, "empty"),
    "Dir::Etc::sourcelist": join(place, "sources.list"),
    "Dir::Etc::sourceparts": join(place, "empty"),
    "Dir::State::lists": join(place, "lists/"),
    "Dir::State::status": join(place, "status"),
    "Debug::NoLocking": "1",
  };
  return [
    "apt-get",
    "-q",
    ...Object.entries(options).flatMap(([name, value]) => [
      "-o",
      `${name}=${value}`,
    ]),
  ];
}

const PASSWD =
  "root:x:0:0::/root:/bin/bash\nuser:x:1000:1000::/tmp/user:/bin/bash\n";

const INIT = `#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tmpfs -o mode=1777 tmp /tmp
/bin/busybox mount -t tmpfs -o mode=755 run /run
for module in $(/bin/busybox find /lib/modules/ -name 'fuse.ko*'); do
  case "$module" in
  *.xz) /bin/busybox xz -dc "$module" >/tmp/fuse.ko && module=/tmp/fuse.ko ;;
  esac
  /bin/busybox insmod "$module"
done
/bin/busybox ip link set lo up
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
/bin/bash /test.sh
echo "@@ end $?"
echo o >/proc/sysrq-trigger
/bin/busybox sleep 60
`;
