import assert from "node:assert/strict";
import { formatNames } from "../../../src/formats/registry.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { run, runBash, succeed } from "../run_cli.ts";

const FORMAT_NAMES = formatNames().sort();

/** Words to complete, and candidates that must be among the results. */
const CASES: { words: string[]; expected: string[]; exact: boolean }[] = [
  { words: ["un"], expected: ["unmount"], exact: true },
  { words: ["ex"], expected: ["extract"], exact: true },
  { words: ["ls", "--rec"], expected: ["--recursive"], exact: true },
  {
    words: ["extract", "--no-"],
    expected: ["--no-cache", "--no-verify"],
    exact: true,
  },
  { words: ["pack", "--skip"], expected: ["--skip-problems"], exact: true },
  { words: ["rec"], expected: ["records"], exact: true },
  { words: ["write", "--js"], expected: ["--json", "--jsonl"], exact: true },
  {
    words: ["gulp", "image-"],
    expected: ["image-folder", "image-list"],
    exact: true,
  },
  {
    words: ["gulp", "csv-webm", "--frame-"],
    expected: ["--frame-rate", "--frame-size"],
    exact: true,
  },
  { words: ["bag", "cr"], expected: ["create"], exact: true },
  {
    words: ["bag", "create", "--shard-s"],
    expected: ["--shard-size", "--shard-start", "--shard-step"],
    exact: true,
  },
  {
    words: ["bag", "create", "--gen"],
    expected: ["--generation"],
    exact: true,
  },
  { words: ["ls", "--format", ""], expected: FORMAT_NAMES, exact: true },
  {
    words: ["completions", ""],
    expected: ["bash", "fish", "zsh"],
    exact: true,
  },
  {
    words: ["help", "ex"],
    expected: ["exit-codes", "extract"],
    exact: true,
  },
  { words: [""], expected: ["mount", "check", "tree"], exact: false },
];

/** Asks a shell for the candidates of each line, in a directory with a file `data.ffr` and a directory `mnt`. */
type Ask = (
  script: string,
  lines: readonly (readonly string[])[],
  cwd: string,
) => Promise<string[][]>;

async function testShell(shell: string, ask: Ask): Promise<void> {
  await withTempDir(async (dir) => {
    const script = `${dir}/script`;
    await Deno.mkdir(`${dir}/cwd/mnt`, { recursive: true });
    await Deno.writeTextFile(`${dir}/cwd/data.ffr`, "");
    const { stdout } = await succeed(["completions", shell]);
    await Deno.writeTextFile(script, stdout);
    const all = await ask(
      script,
      CASES.map(({ words }) => words),
      `${dir}/cwd`,
    );
    for (const [i, { words, expected, exact }] of CASES.entries()) {
      const found = all[i]!.sort();
      if (exact) assert.deepEqual(found, expected, words.join(" "));
      else {
        const missing = expected.filter((word) => !found.includes(word));
        assert.deepEqual(missing, [], words.join(" "));
      }
    }
  });
}

/** Runs a new shell for each line, which is fast enough for some shells. */
function eachAlone(
  ask: (
    script: string,
    words: readonly string[],
    cwd: string,
  ) => Promise<string[]>,
): Ask {
  return async (script, lines, cwd) => {
    const found: string[][] = [];
    for (const words of lines) found.push(await ask(script, words, cwd));
    return found;
  };
}

Deno.test({
  name: "bash completes commands, options and formats (needs bash)",
  ...needs("bash"),
  fn: () =>
    testShell(
      "bash",
      eachAlone(async (script, words, cwd) => {
        const code = `source "$0"; COMP_WORDS=(recordfs "$@"); COMP_CWORD=$#
        _recordfs; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const ran = await runBash(code, [script, ...words], { cwd });
        assert.equal(ran.stderr, "");
        return ran.stdout.trim().split("\n");
      }),
    ),
});

Deno.test({
  name:
    "bash completes SOURCE with files and MOUNTPOINT with directories (needs bash)",
  ...needs("bash"),
  async fn() {
    await withTempDir(async (dir) => {
      const { stdout } = await succeed(["completions", "bash"]);
      await Deno.writeTextFile(`${dir}/script`, stdout);
      // compopt works only during a completion by readline. Here it prints its arguments.
      const code = `source "$0"; compopt() { echo "$*"; }
        COMP_WORDS=(recordfs "$@"); COMP_CWORD=$#; _recordfs`;
      const ask = async (...words: string[]) =>
        (await runBash(code, [`${dir}/script`, ...words])).stdout
          .trim();
      assert.equal(await ask("ls", "d"), "-o default");
      assert.equal(await ask("mount", "-o", "ro", "d"), "-o default");
      // A further container may follow, as well as the mount point.
      assert.equal(await ask("mount", "data.ffr", "m"), "-o default");
      assert.equal(await ask("mount", "a.ffr", "b.ffr", "m"), "-o default");
      assert.equal(await ask("mount", "--prefix", "a"), "");
      assert.equal(await ask("ls", "a.ffr", "--add", "b"), "-o default");
      assert.equal(await ask("unmount", "a", "b", "m"), "-o dirnames");
      assert.equal(await ask("cat", "data.ffr", "d"), "");
      assert.equal(await ask("pack", "m"), "-o dirnames");
      assert.equal(await ask("pack", "mnt", "o"), "-o default");
      assert.equal(await ask("pack", "--include", "m"), "");
      assert.equal(await ask("pack", "--parts", "2", "m"), "-o dirnames");
      assert.equal(await ask("write", "o"), "-o default");
      assert.equal(await ask("write", "out.ffr", "a", "b"), "-o default");
      assert.equal(await ask("write", "out.ffr", "--list", "d"), "-o default");
    });
  },
});

Deno.test({
  name: "fish completes commands, options and formats (needs fish)",
  ...needs("fish"),
  fn: () =>
    testShell(
      "fish",
      eachAlone(async (script, words, cwd) => {
        const code = `source $argv[1]; complete -C "recordfs $argv[2]"`;
        const line = words.join(" ");
        const ran = await run(
          ["fish", "--no-config", "-c", code, script, line],
          { cwd },
        );
        assert.equal(ran.stderr, "");
        return ran.stdout.trim().split("\n").map((one) => one.split("\t")[0]!);
      }),
    ),
});

Deno.test({
  name: "fish completes files (needs fish)",
  ...needs("fish"),
  async fn() {
    await withTempDir(async (dir) => {
      await Deno.writeTextFile(`${dir}/data.ffr`, "");
      const { stdout } = await succeed(["completions", "fish"]);
      await Deno.writeTextFile(`${dir}/script`, stdout);
      for (const line of ["ls dat", "write a.ffr dat", "write --list dat"]) {
        const code = `source script; complete -C "recordfs ${line}"`;
        const args = ["fish", "--no-config", "-c", code];
        const ran = await run(args, { cwd: dir });
        assert.equal(ran.stdout.trim(), "data.ffr", line);
      }
    });
  },
});

/**
 * Types lines into an interactive zsh on a pseudo-terminal, and lists the completions. A wrapper of `compadd` writes
 * the candidates to the file `found`, which is then renamed to `found.1` and so on. All lines share one shell, since
 * zsh takes a second to start.
 */
const ZSH_INNER = `
autoload -U compinit
compinit -u -D
source $SCRIPT
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- $hits >> $STATE/found
  builtin compadd "$@"
}
bindkey '^I' list-choices
: > $STATE/ready
`;
const ZSH_OUTER = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source $STATE/inner'
while [[ ! -e $STATE/ready ]]; do sleep 0.05; done
integer n=0
for line; do
  zpty -w -n shell "recordfs $line"$'\\t'
  # Before it edits the line itself, the terminal would, and ^U would take all of it back.
  while [[ ! -s $STATE/found ]]; do zpty -r -t shell _; sleep 0.05; done
  zpty -w shell $'\\x15: > $STATE/done'
  while [[ ! -e $STATE/done ]]; do zpty -r -t shell _; sleep 0.05; done
  rm $STATE/done
  mv $STATE/found $STATE/found.$((++n))
done
zpty -d shell
`;

Deno.test({
  name: "zsh completes commands, options, formats and files (needs zsh)",
  ...needs("zsh"),
  async fn() {
    const ask: Ask = async (script, lines, cwd) => {
      const state = await Deno.makeTempDir({ dir: `${cwd}/..` });
      await Deno.writeTextFile(`${state}/inner`, ZSH_INNER);
      const typed = lines.map((words) => words.join(" "));
      const args = ["zsh", "-f", "-c", ZSH_OUTER, "zsh", ...typed];
      const env = { STATE: state, SCRIPT: script, TERM: "dumb" };
      await run(["timeout", "180", ...args], { cwd, env });
      return await Promise.all(lines.map(async (_, i) => {
        const found = await Deno.readTextFile(`${state}/found.${i + 1}`);
        return [...new Set(found.split("\n").filter(Boolean))];
      }));
    };
    await testShell("zsh", ask);
    await withTempDir(async (dir) => {
      await Deno.mkdir(`${dir}/cwd/mnt`, { recursive: true });
      await Deno.writeTextFile(`${dir}/cwd/data.ffr`, "");
      const { stdout } = await succeed(["completions", "zsh"]);
      await Deno.writeTextFile(`${dir}/script`, stdout);
      const cases: [words: string[], found: string[]][] = [
        [["ls", "dat"], ["data.ffr"]],
        [["mount", "data.ffr", "m"], ["mnt"]],
        [["pack", "m"], ["mnt"]],
        [["pack", "--exclude", "a", "--exc"], ["--exclude"]], // repeatable
        [["write", "a.ffr", "dat"], ["data.ffr"]],
        [["write", "a.ffr", "--list", "dat"], ["data.ffr"]],
      ];
      const lines = cases.map(([words]) => words);
      assert.deepEqual(
        await ask(`${dir}/script`, lines, `${dir}/cwd`),
        cases.map(([, found]) => found),
      );
    });
  },
});
