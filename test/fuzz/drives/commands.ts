/** The command line: exit codes must be 0, 1 or 2, and messages one line each, without stack traces. */
import { main } from "../../../src/cli/main.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { openSync } from "../../../src/open/mod.ts";
import type { Dice } from "../dice.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

/** Maximum length and number of lines on standard error. */
const LONGEST_LINE = 8192;
const MOST_LINES = 200;

/** Builds command lines, without the program's name. */
const LINES: Record<string, (scene: Scene) => string[]> = {
  info: ({ path, dice }) => ["info", path, ...some(dice, "--json")],
  ls: (
    { path, dice },
  ) => ["ls", path, ...some(dice, "-R", "-l", "--json", "--decoded")],
  tree: ({ path, dice }) => ["tree", path, ...some(dice, "--decoded")],
  stat: (scene) => ["stat", scene.path, ...somePaths(scene)],
  cat: (
    scene,
  ) => [
    "cat",
    scene.path,
    ...somePaths(scene),
    ...some(scene.dice, "--decoded", "--no-verify"),
  ],
  records: ({ path, dice }) => ["records", path, ...some(dice, "--json")],
  check: (
    { path, dice },
  ) => ["check", path, ...some(dice, "--values", "--json")],
  extract: (
    scene,
  ) => [
    "extract",
    scene.path,
    scene.output(),
    ...some(scene.dice, "--decoded", "--no-verify"),
  ],
  convert: (scene) => {
    const to = scene.dice.pick([
      "ffrecord",
      "ffrecord-samples",
      "gulp",
      "bags",
      "bag",
      "folder",
    ]);
    const from = scene.original.format === "folder" ? ["--from", "folder"] : [];
    return [
      "convert",
      scene.path,
      scene.output(),
      "--to",
      to,
      ...from,
      ...some(scene.dice, "--lossy", "--json"),
    ];
  },
  split: (
    scene,
  ) => ["split", scene.path, "--out", scene.output(), "--ratios", "1,1"],
  repair: (
    scene,
  ) => [
    "gulp",
    "repair",
    scene.path,
    scene.output(),
    ...some(scene.dice, "--partial", "--json"),
  ],
  create: (scene) => ["bag", "create", scene.output(), scene.path],
};

function createFromLines(scene: Scene): string[] {
  const { path, dice } = scene;
  const generation = dice.pick(["1", "2", "3"]);
  const input = [`${path}/lines.jsonl`, "--spec", `${path}/spec.json`];
  return [
    "bag",
    "create",
    scene.output(),
    ...input,
    "--generation",
    generation,
  ];
}

function some(dice: Dice, ...options: string[]): string[] {
  return options.filter(() => dice.once(3));
}

function somePaths({ path, dice }: Scene): string[] {
  try {
    using opened = openSync(path, QUIET);
    const files: string[] = [];
    for (const { path, isFile } of opened.walkSync()) {
      if (isFile && files.push(path) === 500) break;
    }
    const chosen = dice.some(files, 5);
    if (chosen.length > 0) return chosen;
  } catch {
    // the command reports the error
  }
  return ["missing"];
}

function lineOf(scene: Scene): string[] {
  if (scene.original.format === "lines") return createFromLines(scene);
  return LINES[scene.dice.pick(Object.keys(LINES))]!(scene);
}

export const commandDrive: Drive = {
  name: "command",
  every: 4,
  memory: 1200,
  async run(scene) {
    const args = lineOf(scene);
    const output = new Captured();
    const ended = await scene.attempt(
      `recordfs ${args[0]}`,
      () => output.during(() => main(args)),
    );
    if (ended.ok) judge(scene, args, ended.value, output.stderr);
  },
};

export const programDrive: Drive = {
  name: "program",
  every: 400,
  async run(scene) {
    const args = lineOf(scene);
    const ended = await scene.attempt(
      `recordfs ${args[0]} as a program`,
      () =>
        new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--no-prompt", `${REPOSITORY}cli.ts`, ...args],
          stdin: "null",
          cwd: scene.directory,
        }).output(),
    );
    if (!ended.ok) return;
    const { code, stderr } = ended.value;
    judge(scene, args, code, new TextDecoder().decode(stderr));
  },
};

/** Reports invalid exit codes and messages of a command. */
export function judge(
  scene: Scene,
  args: readonly string[],
  code: number,
  stderr: string,
): void {
  const line = `recordfs ${args.join(" ").slice(0, 1000)}`;
  const said = `${line}\nexit code ${code}\n${stderr.slice(0, 2000)}`;
  if (![0, 1, 2].includes(code)) scene.report("exit", said);
  const lines = stderr.split("\n");
  if (lines.pop() !== "") scene.report("output", `unfinished: ${said}`);
  if (code === 1 && lines.length === 0 && args[0] !== "check") {
    scene.report("output", `nothing is said: ${said}`);
  }
  if (lines.length > MOST_LINES) {
    scene.report("output", `${lines.length} lines: ${said}`);
  }
  const isOdd = (line: string) =>
    !line.startsWith("recordfs: ") || line.length > LONGEST_LINE ||
    // deno-lint-ignore no-control-regex -- what terminals act on
    /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(line) ||
    /\bat .*:\d+:\d+/.test(line) || line.includes("this should not happen");
  const odd = lines.find(isOdd);
  if (odd !== undefined) {
    scene.report("output", `${JSON.stringify(odd.slice(0, 1000))} of ${said}`);
  }
}

/** Captures standard error of this process, and discards standard output, while a command runs. */
class Captured {
  stderr = "";

  async during<T>(body: () => Promise<T>): Promise<T> {
    const { stdout, stderr } = Deno;
    const kept = [
      stdout.write,
      stdout.writeSync,
      stderr.writeSync,
      stderr.write,
    ] as const;
    const decoder = new TextDecoder();
    const ignore = (bytes: Uint8Array) => bytes.length;
    const keep = (bytes: Uint8Array) => {
      this.stderr += decoder.decode(bytes, { stream: true });
      return bytes.length;
    };
    stdout.write = (bytes) => Promise.resolve(ignore(bytes));
    stdout.writeSync = ignore;
    stderr.writeSync = keep;
    stderr.write = (bytes) => Promise.resolve(keep(bytes));
    try {
      return await body();
    } finally {
      [stdout.write, stdout.writeSync, stderr.writeSync, stderr.write] = kept;
    }
  }
}
