/**
 * The Python packages that write and read bags, where they can be had.
 *
 * @module
 */
import type { Generation } from "../../src/formats/bags/mod.ts";
import { progress } from "../support/report.ts";
import { run } from "../support/run.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";

/** A package that Python can import. */
export interface PythonBags {
  /** `bags` or `granular`. */
  readonly name: string;
  /** What errors and tables call it. */
  readonly title: string;
  /** The words of a command that runs a script with it: `[...command, "script.py"]`. */
  readonly command: readonly string[];
}

/** Which package writes each generation, and what names a checkout of it. */
const PACKAGES: Record<
  Generation,
  {
    readonly name: string;
    readonly title: string;
    readonly variable: string;
    /** A Python expression that is true of the right version. */
    readonly isRight: string;
  }
> = {
  1: {
    name: "bags",
    title: "bags, in Python",
    variable: "RECORDFS_BENCH_BAGS",
    isRight: "True",
  },
  2: {
    name: "granular",
    title: "granular 0.21, in Python",
    variable: "RECORDFS_BENCH_GRANULAR_2",
    isRight: "hasattr(m.DatasetReader, 'available')",
  },
  3: {
    name: "granular",
    title: "granular 0.22, in Python",
    variable: "RECORDFS_BENCH_GRANULAR_3",
    isRight: "not hasattr(m.DatasetReader, 'available')",
  },
};

/**
 * Finds the package of a generation: in the folder that its variable names, or installed. Where there
 * is none, says so.
 */
export async function findPythonBags(
  generation: Generation,
): Promise<PythonBags | undefined> {
  const { name, title, variable, isRight } = PACKAGES[generation];
  const folder = Deno.env.get(variable);
  const command = [
    ...folder === undefined ? [] : ["env", `PYTHONPATH=${folder}`],
    PYTHON,
  ];
  const check = `import ${name} as m; assert ${isRight}, 'another version'`;
  try {
    await run([...command, "-c", check]);
    return { name, title, command };
  } catch (error) {
    const reason = String((error as Error).message).trim().split("\n").at(-1);
    progress(
      `${title}: not there (${reason}); \`deno task setup\` installs bags and granular 0.22, or ${variable} names a source folder`,
    );
    return undefined;
  }
}
