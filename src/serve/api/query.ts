import { ServeError } from "../serve_error.ts";

export class Query {
  readonly #fields = new Map<string, string>();

  /** @param text As in the URL: paths in it are bytes, not text. */
  constructor(text: string) {
    for (const field of text.split("&")) {
      const sign = field.indexOf("=");
      if (sign > 0) {
        this.#fields.set(field.slice(0, sign), field.slice(sign + 1));
      }
    }
  }

  /** Path, still percent-encoded; the root if none is given. */
  get path(): string {
    const path = this.#fields.get("path") ?? "";
    return path.replaceAll(/%2f/gi, "/").replace(/^\/+/, "");
  }

  text(name: string): string | undefined {
    const text = this.#fields.get(name);
    if (text === undefined) return undefined;
    try {
      return decodeURIComponent(text.replaceAll("+", " "));
    } catch (cause) {
      throw new ServeError("bad-request", `${name} is not UTF-8`, { cause });
    }
  }

  /** Returns an integer. Throws `ServeError` if it is not an integer, or larger than `most`. */
  number(name: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.#fields.get(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (/^[0-9]{1,16}$/.test(text) && number <= most) return number;
    throw new ServeError(
      "bad-request",
      `${name} must be a whole number from 0 to ${most}`,
    );
  }
}
