/** Bags and datasets in the golden files, as the original packages wrote them. */
import * as fs from "node:fs";
import { fromFileUrl } from "../paths.ts";
import type { BagGeneration } from "./naive_bags.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));

/** Generation of each set. */
const SETS: Record<string, BagGeneration> = {
  bag: 1,
  bags: 1,
  granular: 1,
  granular2: 2,
  granular3: 3,
};

/** A bag or dataset that Python wrote. */
export interface PythonCase {
  readonly name: string;
  readonly path: string;
  readonly kind: "bag" | "dataset" | "shards";
  readonly generation: BagGeneration;
}

/** Returns all undamaged cases whose writer was closed. */
export function pythonCases(kind: PythonCase["kind"]): PythonCase[] {
  return Object.entries(SETS).flatMap(([set, generation]) =>
    fs.readdirSync(ROOT + set).sort().flatMap((name) => {
      const expect = JSON.parse(
        fs.readFileSync(`${ROOT}${set}/${name}/expect.json`, "utf8"),
      );
      const path = `${ROOT}${set}/${name}/${expect.target}`;
      if (!expect.valid || name === "killed_writer") return [];
      const own = expect.kind === "bag"
        ? "bag"
        : fs.existsSync(`${path}/spec.json`)
        ? "dataset"
        : "shards";
      return own === kind
        ? [{ name: `${set}/${name}`, path, kind, generation }]
        : [];
    })
  );
}
