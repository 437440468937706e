/** Deepest nesting of braces: each level takes a call. */
const DEEPEST = 64;
/** Most paths that a pattern may name, and UTF-16 units of all of them together. */
const MOST_PATHS = 1_000_000;
const MOST_UNITS = 2 ** 28;

/** `1..10` or `10..1..3`; the sign of the step is ignored. */
const NUMBERS = /^(-?\d+)\.\.(-?\d+)(?:\.\.-?(\d+))?$/;
/** `a..f`, optionally with a step. */
const LETTERS = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.-?(\d+))?$/;
/** Order of letters: capitals first, directly followed by small letters. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Error of a pattern that names more than can be opened. The message completes the sentence "The pattern …". */
export class BracePatternError extends Error {
  override name = "BracePatternError";
  readonly paths: bigint | undefined;

  constructor(why: string, paths?: bigint) {
    super(why);
    this.paths = paths;
  }
}

type Part = Literal | NumberRange | LetterRange | Choice;

interface Literal {
  readonly kind: "literal";
  readonly text: string;
}

/** `count` numbers from `first` on, in increments of `step`. */
interface NumberRange {
  readonly kind: "numbers";
  readonly first: bigint;
  readonly step: bigint;
  readonly count: bigint;
  /** Minimum width, including the sign. */
  readonly width: number;
}

interface LetterRange {
  readonly kind: "letters";
  readonly letters: readonly string[];
}

interface Choice {
  readonly kind: "choice";
  readonly patterns: readonly Pattern[];
}

type Pattern = readonly Part[];

/** Number of texts that a pattern expands to, and their total length. */
interface Extent {
  readonly texts: bigint;
  readonly units: bigint;
}

/**
 * Path pattern in the syntax of Python's package `braceexpand`, which WebDataset uses: `{000..146}`, `{11..9}`,
 * `{0..10..5}`, `{a..c}`, `{a,b}`, nested. If a bound begins with 0, all numbers are padded with zeros. A backslash
 * escapes the next character.
 */
export class BracePattern {
  readonly #parts: Pattern;

  private constructor(parts: Pattern) {
    this.#parts = parts;
  }

  /**
   * Parses a pattern; `undefined` if braces are unbalanced. Throws a {@linkcode BracePatternError} if they are nested
   * too deeply.
   */
  static parse(text: string): BracePattern | undefined {
    const parts = parse(text, 0);
    return parts && new BracePattern(parts);
  }

  /** Whether it contains an expression. */
  get isPattern(): boolean {
    return this.#parts.some(isExpression);
  }

  first(): string {
    return unescaped(firstOf(this.#parts));
  }

  /**
   * Expands patterns in the order of braceexpand: the last braces vary fastest. Throws a {@linkcode BracePatternError}
   * if there are more than a million texts, or they are too long together.
   */
  static expand(patterns: readonly BracePattern[]): string[] {
    let [count, units] = [0n, 0n];
    for (const pattern of patterns) {
      const extent = extentOf(pattern.#parts);
      count += extent.texts;
      units += extent.units;
    }
    if (count > MOST_PATHS) {
      throw new BracePatternError(
        `names ${
          count > 2n ** 64n ? "more than 2^64" : count
        } files, more than ${MOST_PATHS}`,
        count,
      );
    }
    if (units > MOST_UNITS) {
      throw new BracePatternError(
        `names ${count} files, whose paths have ${units} characters together, more than ${MOST_UNITS}`,
        count,
      );
    }
    return patterns.flatMap((pattern) =>
      textsOf(pattern.#parts).map(unescaped)
    );
  }
}

function parse(text: string, depth: number): Pattern | undefined {
  if (depth > DEEPEST) {
    throw new BracePatternError(
      `nests more than ${DEEPEST} braces`,
    );
  }
  const parts: Part[] = [];
  const add = (from: number, to: number) => {
    if (to > from) parts.push({ kind: "literal", text: text.slice(from, to) });
  };
  let start = 0;
  let open = 0; // negative after an unmatched closing brace
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") {
      if (open === 0) {
        add(start, at);
        start = at;
      }
      open++;
    } else if (text[at] === "}" && --open === 0) {
      parts.push(...parseBraces(text.slice(start + 1, at), depth + 1));
      start = at + 1;
    }
  }
  if (open !== 0) return undefined;
  add(start, text.length);
  return parts;
}

function parseBraces(text: string, depth: number): Pattern {
  const numbers = NUMBERS.exec(text);
  if (numbers !== null) return [numberRange(numbers)];
  const letters = LETTERS.exec(text);
  if (letters !== null) return [letterRange(letters)];
  // The content of a balanced pair is balanced.
  const patterns = itemsOf(text).map((item) => parse(item, depth)!);
  const choice: Choice = { kind: "choice", patterns };
  return patterns.length > 1
    ? [choice]
    : [{ kind: "literal", text: "{" }, choice, { kind: "literal", text: "}" }];
}

/** Splits a text at its commas, except those in braces. */
function itemsOf(text: string): string[] {
  const items: string[] = [];
  let start = 0;
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") open++;
    else if (text[at] === "}") open--;
    else if (text[at] === "," && open === 0) {
      items.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...items, text.slice(start)];
}

function numberRange(parts: RegExpExecArray): NumberRange {
  const [, from, to, by] = parts as unknown as string[];
  const [first, last] = [BigInt(from!), BigInt(to!)];
  const step = stepOf(by);
  const isPadded = [from!, to!].some((number) => /^-?0./.test(number));
  const distance = last < first ? first - last : last - first;
  return {
    kind: "numbers",
    first,
    step: last < first ? -step : step,
    count: distance / step + 1n,
    width: isPadded ? Math.max(from!.length, to!.length) : 0,
  };
}

function letterRange(parts: RegExpExecArray): LetterRange {
  const [, from, to, by] = parts as unknown as string[];
  const [first, last] = [ALPHABET.indexOf(from!), ALPHABET.indexOf(to!)];
  const step = stepOf(by);
  const distance = Math.abs(last - first);
  const letters: string[] = [];
  for (let far = 0n; far <= distance; far += step) {
    letters.push(ALPHABET[first + (last < first ? -1 : 1) * Number(far)]!);
  }
  return { kind: "letters", letters };
}

function stepOf(by: string | undefined): bigint {
  return BigInt(by ?? 1) || 1n;
}

/** Whether a part is an expression, even one with a single value. */
function isExpression(part: Part): boolean {
  if (part.kind !== "choice") return part.kind !== "literal";
  const [first] = part.patterns;
  return part.patterns.length > 1 || first!.some(isExpression);
}

function extentOf(pattern: Pattern): Extent {
  let [texts, units] = [1n, 0n];
  for (const part of pattern) {
    const own = extentOfPart(part);
    units = units * own.texts + own.units * texts;
    texts *= own.texts;
  }
  return { texts, units };
}

function extentOfPart(part: Part): Extent {
  switch (part.kind) {
    case "literal":
      return { texts: 1n, units: BigInt(part.text.length) };
    case "letters": {
      const count = BigInt(part.letters.length);
      return { texts: count, units: count };
    }
    case "numbers": {
      const { first, step, count, width } = part;
      const last = first + step * (count - 1n);
      const longest = Math.max(width, `${first}`.length, `${last}`.length);
      return { texts: count, units: count * BigInt(longest) };
    }
    case "choice": {
      const all = part.patterns.map(extentOf);
      return {
        texts: all.reduce((sum, { texts }) => sum + texts, 0n),
        units: all.reduce((sum, { units }) => sum + units, 0n),
      };
    }
  }
}

/** Returns all texts of a pattern. Not recursive over its parts, of which there may be any number. */
function textsOf(pattern: Pattern): string[] {
  let all = [""];
  for (const part of pattern) {
    const own = textsOfPart(part);
    all = own.length === 1
      ? all.map((text) => text + own[0])
      : all.flatMap((text) => own.map((more) => text + more));
  }
  return all;
}

function textsOfPart(part: Part): readonly string[] {
  switch (part.kind) {
    case "literal":
      return [part.text];
    case "letters":
      return part.letters;
    case "numbers":
      return numbersOf(part);
    case "choice":
      // braceexpand removes backslashes at each level.
      return part.patterns.flatMap((pattern) =>
        textsOf(pattern).map(unescaped)
      );
  }
}

function numbersOf({ first, step, count, width }: NumberRange): string[] {
  const last = first + step * (count - 1n);
  const areExact = [first, last, step].every((number) =>
    Number.isSafeInteger(Number(number))
  );
  const length = Number(count);
  if (!areExact) {
    return Array.from(
      { length },
      (_, i) => padded(first + BigInt(i) * step, width),
    );
  }
  const [start, by] = [Number(first), Number(step)];
  return Array.from({ length }, (_, i) => padded(start + i * by, width));
}

function firstOf(pattern: Pattern): string {
  return pattern.map((part) => {
    switch (part.kind) {
      case "literal":
        return part.text;
      case "letters":
        return part.letters[0];
      case "numbers":
        return padded(part.first, part.width);
      case "choice":
        return unescaped(firstOf(part.patterns[0]!));
    }
  }).join("");
}

/** Pads a number with zeros between sign and digits. */
function padded(number: bigint | number, width: number): string {
  return number < 0
    ? `-${String(-number).padStart(width - 1, "0")}`
    : String(number).padStart(width, "0");
}

function unescaped(text: string): string {
  return text.includes("\\") ? text.replace(/\\([^\n])/g, "$1") : text;
}
