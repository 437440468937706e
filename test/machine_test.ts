/** Tests use the programs of the setup, whatever the machine's environment is. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { REPOSITORY, withTempDir } from "./support/paths.ts";
import { everybodyEnters } from "./support/programs/machine.ts";
import { needs } from "./support/programs/programs.ts";

/** Prints which programs and temporary directories a test would use. */
const PROGRAM = `
import { tmpdir } from "node:os";
import { needs, PYTHON } from "${REPOSITORY}test/support/programs/programs.ts";
const run = (program, ...args) => {
  const { stdout, stderr } = new Deno.Command(program, { args }).outputSync();
  const text = (bytes) => new TextDecoder().decode(bytes);
  return text(stdout) + text(stderr);
};
const code = "import locale; print('ok', locale.getpreferredencoding(False))";
console.log(JSON.stringify({
  ignore: needs("tar", "python3").ignore,
  tar: run("tar", "--version"),
  python: run(PYTHON, "-c", code),
  shell: run("script", "-qec", "echo $((1 + 1))", "/dev/null"),
  tmp: tmpdir(),
}));`;

Deno.test({
  name:
    "programs of PATH, modules of Python, a shell and a TMPDIR of others have no effect",
  ...needs("tar", "python3", "script"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/programs`);
      for (const name of ["python3", "tar", "script"]) {
        const program = `${dir}/programs/${name}`;
        fs.writeFileSync(program, "#!/bin/sh\necho of others; exit 1\n");
        fs.chmodSync(program, 0o755);
      }
      fs.mkdirSync(`${dir}/closed`);
      fs.chmodSync(`${dir}/closed`, 0o700);
      fs.writeFileSync(`${dir}/locale.py`, "raise ImportError('of others')\n");
      fs.writeFileSync(`${dir}/program.ts`, PROGRAM);
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", `${dir}/program.ts`],
        env: {
          PATH: `${dir}/programs:${Deno.env.get("PATH")}`,
          PYTHONPATH: dir,
          PYTHONHOME: dir,
          SHELL: "/bin/false",
          TMPDIR: `${dir}/closed`,
          LC_ALL: "tr_TR.ISO-8859-9",
        },
      }).output();
      const decoder = new TextDecoder();
      const text = decoder.decode(stdout);
      assert.ok(text, decoder.decode(stderr));
      const { ignore, tar, python, shell, tmp } = JSON.parse(text);
      assert.equal(ignore, false);
      assert.match(tar, /\(GNU tar\)/);
      assert.match(python, /^ok utf-8\n$/i);
      assert.equal(shell.trim(), "2");
      assert.equal(everybodyEnters(tmp), Deno.uid() === 0);
    }),
});
