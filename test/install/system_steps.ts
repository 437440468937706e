/** System integration of the package: manual pages, links, units, helpers of mount(8). */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { makeProgram } from "../../src/cli/program.ts";
import { runClean, sh } from "./installed.ts";

/** Asserts that manual pages match the help, and are valid man(7). */
export async function checkManual(root: string): Promise<void> {
  const pages = `${root}/share/man/man1`;
  const program = await makeProgram(undefined);
  const help = program.createHelp();
  const commands = help.visibleCommands(program)
    .filter((command) => command.name() !== "help");
  assert.deepEqual(
    fs.readdirSync(pages).toSorted(),
    ["recordfs", ...commands.map((one) => `recordfs-${one.name()}`)]
      .map((name) => `${name}.1`).toSorted(),
  );
  for (const name of fs.readdirSync(pages)) {
    const lint = ["mandoc", "-T", "lint", `${pages}/${name}`];
    const { stdout, stderr } = await runClean(lint);
    const found = (stdout + stderr).split("\n")
      // Pages have a version instead of a date.
      .filter((line) => line !== "" && !line.includes("missing date"));
    assert.deepEqual(found, []);
  }
  for (const command of commands) {
    const name = `recordfs-${command.name()}`;
    const page = await sh(`mandoc -T utf8 -O width=900 ${pages}/${name}.1`);
    const text = page.replaceAll(/.[\b]/g, ""); // bold characters are printed twice
    assert.ok(text.includes(command.description().slice(1)), name);
    for (const one of [command, ...command.commands]) {
      for (const option of one.createHelp().visibleOptions(one)) {
        assert.ok(text.includes(option.flags), `${name}: ${option.flags}`);
        const [first] = option.description.split("\n");
        assert.ok(text.includes(first!), `${name}: ${first}`);
      }
    }
    assert.match(text, /EXAMPLES\n +recordfs |EXAMPLES\n +find /);
  }
}

/** Asserts that links are added and removed, and that other files stay. */
export async function checkLinks(root: string, dir: string): Promise<void> {
  const prefix = `${dir}/local`;
  const system = `${dir}/system`;
  fs.mkdirSync(`${system}/sbin`, { recursive: true });
  const links = (what: string) =>
    runClean([`${root}/bin/recordfs-links`, what, prefix, system]);
  const added = await links("add");
  assert.equal(added.code, 0, added.stderr);
  for (
    const [link, target] of [
      [`${prefix}/bin/recordfs`, "bin/recordfs"],
      [`${prefix}/share/man/man1/recordfs.1`, "share/man/man1/recordfs.1"],
      [
        `${prefix}/share/bash-completion/completions/recordfs`,
        "share/bash-completion/completions/recordfs",
      ],
      [`${system}/sbin/mount.recordfs`, "bin/recordfs"],
      [`${system}/sbin/mount.fuse.recordfs`, "bin/recordfs"],
    ] as const
  ) assert.equal(fs.realpathSync(link), fs.realpathSync(`${root}/${target}`));
  assert.equal((await links("add")).code, 0, "once more changes nothing");
  assert.equal((await links("remove")).code, 0);
  assert.equal(await sh(`find ${prefix} ${system} ! -type d`), "");

  fs.writeFileSync(`${prefix}/bin/recordfs`, "another's");
  const refused = await links("add");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /bin\/recordfs is there already/);
  await links("remove");
  assert.equal(
    await sh(`find ${prefix} ${system} ! -type d`),
    `${prefix}/bin/recordfs\n`,
  );
  assert.equal((await runClean([`${root}/bin/recordfs-links`])).code, 2);
}

/** Asserts that systemd accepts the unit, and that the environment file has its variables. */
export async function checkUnit(root: string, dir: string): Promise<void> {
  const unit = fs.readFileSync(
    `${root}/share/systemd/recordfs@.service`,
    "utf8",
  );
  const env = fs.readFileSync(`${root}/share/systemd/example.env`, "utf8");
  for (const [, name] of unit.matchAll(/\$\{?([A-Z]+)\}?/g)) {
    assert.match(env, RegExp(`^${name}=\\S`, "m"));
  }
  // The command must exist for systemd, and no manual is installed here.
  const tried = unit.replace("/usr/local/bin/recordfs", `${root}/bin/recordfs`)
    .replace(/^Documentation=.*\n/m, "");
  assert.notEqual(tried, unit);
  fs.writeFileSync(`${dir}/recordfs@.service`, tried);
  const verify = ["systemd-analyze", "verify", `${dir}/recordfs@train.service`];
  fs.symlinkSync("recordfs@.service", `${dir}/recordfs@train.service`);
  const { code, stderr } = await runClean(verify);
  assert.equal(stderr, "");
  assert.equal(code, 0);
}

/** Asserts that a copied and linked directory mounts by `/etc/fstab`. */
export async function checkFstab(
  root: string,
  data: string,
  dir: string,
): Promise<void> {
  const place = `${dir}/opt/recordfs`;
  fs.mkdirSync(`${dir}/opt`);
  for (const point of ["one", "two"]) fs.mkdirSync(`${dir}/${point}`);
  fs.writeFileSync(
    `${dir}/fstab`,
    `${data} ${dir}/one recordfs ro,allow_other 0 0\n` +
      `${data} ${dir}/two fuse.recordfs ro,nofail 0 0\n`,
  );
  // The links are created in a directory that only exists in this mount namespace, which also has the mounts of other
  // tests.
  const script = `
    cp -rl ${root} ${place}
    mount -t tmpfs none /usr/sbin
    ${place}/bin/recordfs-links add ${dir}/prefix
    mkdir -p -m 700 /run/recordfs
    mount -t tmpfs -o mode=700 none /run/recordfs
    mount --fstab ${dir}/fstab --all
    mount --fstab ${dir}/fstab --all
    cat ${dir}/one/001.txt >/dev/null
    ls ${dir}/two
    grep -c ' ${dir}/.* fuse.recordfs ' /proc/self/mounts
    umount ${dir}/one ${dir}/two
    ! grep ' ${dir}/.* fuse.recordfs ' /proc/self/mounts
    ${place}/bin/recordfs-links remove ${dir}/prefix
    find /usr/sbin ${dir}/prefix ! -type d`;
  const { stdout, stderr, code } = await runClean(
    ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script],
  );
  assert.equal(code, 0, stderr);
  const lines = stdout.trim().split("\n");
  assert.equal(lines[0], "001.txt");
  assert.equal(lines.at(-1), "2", "each is mounted once, and nothing is left");
}
