import { FormatError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { scanAll } from "../read/open_index.ts";
import { TarBuilder } from "../read/tar_builder.ts";

/** Characters that are encoded at a time. */
const PAGE = 1 << 16;

/**
 * Returns the index that DALI's `wds2idx` makes of a tar: `v1.2 SAMPLES`, and for each sample a line of
 * `EXTENSION OFFSET SIZE NAME` of its files. A sample are files next to each other whose names are the same up to the first
 * dot. Other members than regular files, and hidden files, are in no sample.
 *
 * @throws {FormatError} If the tar is damaged, has no samples, or members that no such index can name.
 */
export function* daliIndexOf(source: ByteSource): Steps<Uint8Array[]> {
  const listing = new DaliListing(source.name);
  yield* scanAll(source, listing, (damage) => {
    throw damage;
  });
  return listing.encode();
}

/** Collects the files of a tar in its order, by the names that it stores. */
class DaliListing extends TarBuilder {
  readonly #path: string;
  readonly #lines: string[] = [];
  #last: string | undefined;

  constructor(path: string) {
    super(path);
    this.#path = path;
  }

  override addFile(name: Uint8Array, offset: number, size: number): void {
    const file = decodeName(name);
    if (/\s/.test(file)) {
      throw this.#refusal(`'${file}' has a space in its name`);
    }
    // Without a dot, the tool takes all but the last character as the key, and all as the extension.
    const dot = file.indexOf(".", file.lastIndexOf("/") + 1);
    const key = file.slice(0, dot);
    if (key === "" || key.endsWith("/")) return;
    const part = `${file.slice(dot + 1)} ${offset} ${size} ${file}`;
    if (key === this.#last) this.#lines[this.#lines.length - 1] += ` ${part}`;
    else this.#lines.push(part);
    this.#last = key;
  }

  override addSparse(name: Uint8Array): void {
    throw this.#refusal(`'${decodeName(name)}' is sparse`);
  }

  override addDirectory(): void {}

  override addLink(): void {}

  override addHardLink(): void {}

  override skip(): void {}

  encode(): Uint8Array[] {
    const lines = this.#lines;
    if (lines.length === 0) throw this.#refusal("it has no samples");
    const encoder = new TextEncoder();
    const parts = [encoder.encode(`v1.2 ${lines.length}\n`)];
    for (let first = 0; first < lines.length; first += PAGE) {
      const page = lines.slice(first, first + PAGE);
      parts.push(encoder.encode(`${page.join("\n")}\n`));
    }
    return parts;
  }

  #refusal(why: string): FormatError {
    const path = this.#path;
    const message = `Cannot index ${path} for DALI: ${why}. Pack it again`;
    return new FormatError("unsupported", message, { path });
  }
}
