/** Each command's help has three examples, which its parser accepts and which run. */
import assert from "node:assert/strict";
import type { Command } from "commander";
import { examplesOf, LINES } from "../../src/cli/examples.ts";
import { makeProgram } from "../../src/cli/program.ts";
import { writeExampleFiles } from "../support/example_files.ts";
import { CLI, run, succeed, withSession } from "./run_cli.ts";
import { withTempDir } from "../support/paths.ts";

/** Commands whose examples run here. The others mount, need ffmpeg, or take seconds. */
const RUN = new Set(
  [
    ...["ls", "tree", "cat", "stat", "info", "records", "check", "extract"],
    ...["pack", "write", "convert", "bag create", "split", "completions"],
    ...["gulp csv-jpeg", "gulp image-list", "gulp image-folder", "gulp repair"],
  ],
);

/** Yields a command with its name, and all subcommands. */
function* commandsOf(
  command: Command,
  name = "",
): Generator<[string, Command]> {
  yield [name, command];
  for (const one of command.commands) {
    yield* commandsOf(one, name === "" ? one.name() : `${name} ${one.name()}`);
  }
}

/** Returns the help text of a command. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (more) => text += more });
  command.outputHelp();
  return text;
}

/** Returns the arguments that a shell passes to `recordfs` for a line. */
async function argumentsIn(line: string, cwd: string): Promise<string[]> {
  const script = `recordfs() { printf '%s\\0' "$@" >&3; }\n${line}`;
  const ran = await run(["sh", "-c", `exec 3>&1\n${script}`], { cwd });
  assert.equal(ran.code, 0, `${line}: ${ran.stderr}`);
  return ran.stdout.split("\0").slice(0, -1);
}

Deno.test("every help text has three examples of its own command", async () => {
  const program = await makeProgram(undefined);
  const names = new Set<string>();
  const shown = new Set<string>();
  for (const [name, command] of commandsOf(program)) {
    names.add(name);
    const [, examples = ""] = helpOf(command).split("\nExamples:\n");
    const lines = examples.trimEnd().split("\n");
    assert.equal(lines.length, 3, `${name} has ${lines.length} examples`);
    for (const line of lines) {
      assert.ok(line.includes(`recordfs ${name}`), `${line} is not of ${name}`);
    }
    assert.equal(new Set(lines).size, 3);
    for (const line of lines) shown.add(line.trim());
  }
  assert.ok(names.size > 25);
  for (const line of LINES) assert.ok(shown.has(line), `${line} is of none`);
  const { stdout } = await succeed(["bag", "create", "--help"]);
  for (const line of examplesOf("bag create")) {
    assert.ok(stdout.includes(`\n  ${line}\n`));
  }
});

Deno.test("an adapter of one's own has three examples as well", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(
      `${dir}/mine.ts`,
      `export class Mine {
        static options = [{ name: "folder", type: "string", positional: true, description: "Where" }];
        length = 0;
        *iterData() {}
      }`,
    );
    const { stdout } = await succeed(
      ["gulp", "--adapter", "./mine.ts#Mine", "--help"],
      { cwd: dir },
    );
    assert.match(
      stdout,
      /Examples:\n {2}recordfs gulp --adapter \.\/mine\.ts#Mine folder\/ gulped\/\n.*\n.*--resume/,
    );
  });
});

Deno.test("the parser takes every example, as a line of the command that shows it", async () => {
  const all = await makeProgram(undefined);
  await withTempDir(async (dir) => {
    for (const [name] of commandsOf(all)) {
      for (const line of examplesOf(name)) {
        const args = await argumentsIn(line, dir);
        const called = await parsed(args, line);
        assert.equal(called.length, 1, line);
        assert.ok(called[0]!.startsWith(name), `${line} is of ${called[0]}`);
      }
    }
  });
});

/** Parses a line, and returns the commands that it would run. */
async function parsed(args: string[], line: string): Promise<string[]> {
  const program = await makeProgram(undefined);
  const called: string[] = [];
  for (const [name, command] of commandsOf(program)) {
    command.exitOverride();
    command.configureOutput({
      writeErr: (text) => assert.fail(`${line}: ${text}`),
    });
    if (command.commands.length > 0) continue;
    command.action(() => void called.push(name));
  }
  await program.parseAsync(args, { from: "user" });
  return called;
}

Deno.test("examples run where the files that they name exist", () =>
  withTempDir((dir) =>
    withSession(async (recordfs) => {
      await Deno.mkdir(`${dir}/bin`);
      const program =
        `#!/bin/sh\nexec '${Deno.execPath()}' run -A '${CLI}' "$@"\n`;
      await Deno.writeTextFile(`${dir}/bin/recordfs`, program, { mode: 0o755 });
      await Deno.mkdir(`${dir}/files`);
      await writeExampleFiles(`${dir}/files`);
      const env = { PATH: `${dir}/bin:${Deno.env.get("PATH")}` };
      let count = 0;
      for (const name of RUN) {
        const cwd = `${dir}/${++count}`;
        await run(["cp", "-r", `${dir}/files`, cwd]);
        // In order, as a reader would try them.
        const lines = examplesOf(name);
        assert.equal(lines.length, 3);
        for (const line of lines) {
          const ran = /[|>]/.test(line)
            ? await run(["sh", "-ec", line], { cwd, env })
            : await recordfs(await argumentsIn(line, cwd), cwd);
          assert.equal(ran.code, 0, `${line}: ${ran.stderr}`);
        }
      }
    })
  ));
