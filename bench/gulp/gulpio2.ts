/**
 * Finds the Python package GulpIO2.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { progress } from "../support/report.ts";
import { PEERS_PYTHON } from "../../test/support/programs/programs.ts";
import { run } from "../support/run.ts";

const SHIM = fileURLToPath(
  new URL("../reference/gulpio2_on_opencv", import.meta.url),
);

/** Environment variable that names a checkout. */
const VARIABLE = "RECORDFS_BENCH_GULPIO2";

/**
 * Finds the package: in the folder named by `RECORDFS_BENCH_GULPIO2`, or installed. Reports a missing package.
 *
 * @returns Command that runs a script with the package, with OpenCV as JPEG codec.
 */
export async function gulpio2(): Promise<string[] | undefined> {
  const folder = Deno.env.get(VARIABLE);
  const paths = [SHIM, ...folder === undefined ? [] : [`${folder}/src`]];
  const command = ["env", `PYTHONPATH=${paths.join(":")}`, PEERS_PYTHON];
  try {
    await run([...command, "-c", "import gulpio2, cv2"]);
    return command;
  } catch (error) {
    const reason = String((error as Error).message).trim().split("\n").at(-1);
    progress(
      `gulpio2: not there (${reason}); \`deno task setup:peers\` installs it, or ${VARIABLE} names a checkout`,
    );
    return undefined;
  }
}
