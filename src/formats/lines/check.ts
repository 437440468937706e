import { FormatError } from "../../base/errors.ts";
import { RowFault } from "../../codecs/rows/decode_row.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { cutError } from "../../tree/records/cut.ts";
import type { FindPaths } from "./format.ts";
import type { LineKind } from "./kinds.ts";
import { surveyRows } from "./read/survey_rows.ts";

/** Decodes all rows of files, and reports each that cannot be decoded with the number of its line. */
export async function checkRows(
  kind: LineKind,
  location: string,
  pathsOf: FindPaths,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { unit, suffix } = kind;
  const { paths } = await run.run(pathsOf(location, run.storage));
  const samples = await run.files(paths, async (source, before) => {
    const { name: path } = source;
    let rows = 0;
    const survey = surveyRows(
      source,
      kind,
      ({ start, end, line, found, cut }) => {
        run.advanceTo(before + end);
        if (cut !== undefined) {
          return run.damage(cutError(path, rows, cut, suffix));
        }
        const sample = rows++;
        if (!(found instanceof RowFault)) return;
        const message =
          `Cannot decode ${unit} ${sample} of ${path}, in line ${line}: ${found.why}`;
        const facts = { path, offset: start, sample };
        run.damage(new FormatError("bad-value", message, facts));
      },
    );
    const { notes } = await run.run(survey);
    for (const note of notes) run.warn(`${path}: ${note}`);
    return rows;
  });
  return run.report({ samples });
}
