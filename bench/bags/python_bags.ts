/**
 * Finds the Python packages that write and read bags.
 *
 * @module
 */
import type { Generation } from "../../src/formats/bags/mod.ts";
import { progress } from "../support/report.ts";
import { run } from "../support/run.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";

/** Package that Python can import. */
export interface PythonBags {
  /** `bags` or `granular`. */
  readonly name: string;
  /** Name in errors and tables. */
  readonly title: string;
  /** Command that runs a script with the package: `[...command, "script.py"]`. */
  readonly command: readonly string[];
}

/** Package that writes each generation, and the environment variable that names its checkout. */
const PACKAGES: Record<
  Generation,
  {
    readonly name: string;
    readonly title: string;
    readonly variable: string;
    /** Python expression that is true for the right version. */
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
 * Finds the package of a generation: in the folder named by its environment variable, or installed. Reports a missing
 * package.
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
