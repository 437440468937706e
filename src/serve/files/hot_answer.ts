import { RecordfsError } from "../../errors.ts";
import { newExtent, newStat, ROOT } from "../../tree/tree.ts";
import { decodePath } from "../paths.ts";
import type { Served } from "../served.ts";
import type { Contents } from "./content.ts";
import { isActive, typeOfName } from "./content_type.ts";
import { etagOf } from "./etag.ts";
import { fileHeaders } from "./file_headers.ts";

/** Headers by which something else than the whole file may be the answer. */
const CONDITIONS = [
  "range",
  "if-none-match",
  "if-modified-since",
  "if-match",
  "if-unmodified-since",
];

/**
 * Answers what is asked for most: all of a small file that is at hand, whose name tells its type. As plain code: what
 * can wait is made of steps, which take as long again.
 */
export class HotAnswers {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #extent = newExtent();
  readonly #stat = newStat();

  constructor(served: Served, contents: Contents) {
    this.#served = served;
    this.#contents = contents;
  }

  /**
   * The answer to a GET; `undefined` where it is anything else, which others find out, and say.
   *
   * @param path As it stands in the URL.
   */
  answer({ headers }: Request, path: string): Response | undefined {
    const type = typeOfName(path);
    if (type === undefined || isActive(type)) return undefined;
    for (const name of CONDITIONS) if (headers.has(name)) return undefined;
    const { tree } = this.#served;
    if (tree.isLink !== undefined) return undefined;
    try {
      let node = ROOT;
      for (const name of decodePath(path)) {
        node = tree.lookup(node, name, 0, name.length);
        if (node === 0) return undefined;
      }
      const extent = this.#extent;
      const stat = this.#stat;
      if (path.endsWith("/") || !tree.locate(node, extent)) return undefined;
      const bytes = this.#contents.readAtHand(node, extent);
      if (bytes === undefined || !tree.stat(node, stat)) return undefined;
      const etag = etagOf(tree, extent);
      const modified = Math.floor(stat.mtime / 1000);
      return new Response(bytes, {
        headers: fileHeaders(type, etag, modified),
      });
    } catch (error) {
      if (error instanceof RecordfsError) return undefined;
      throw error;
    }
  }
}
