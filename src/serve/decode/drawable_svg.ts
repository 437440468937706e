import { PACKAGES } from "../../base/packages.ts";
import { textOf } from "./text_encoding.ts";

/** Maximum number of elements in a drawing. Elements drawn again by reference count each time. */
const MOST_ELEMENTS = 100_000;

/** Encodings that a declaration may name. In others, the text could decode to different markup. */
const ENCODINGS = /^(?:utf-8|utf-16(?:le|be)?|us-ascii|iso-8859-1)$/i;

/** Element as parsed: its name with its children, and its attributes under `:@`. */
type Parsed = Readonly<Record<string, unknown>>;

interface Element {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly children: readonly Element[];
  readonly text: string;
}

/**
 * Checks that browsers can draw an SVG in bounded time. They draw on the page's main thread, which nested references
 * (ten to ten to …) would block.
 *
 * @throws {RangeError} If it may take too long.
 * @throws {SyntaxError} If it is damaged.
 */
export async function assertDrawable(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { XMLParser, XMLValidator }: typeof import("fast-xml-parser") =
    await import(PACKAGES.fastXmlParser);
  const text = textOf(bytes);
  if (/<!ENTITY/i.test(text)) {
    throw new RangeError("it is not drawn: it declares entities");
  }
  const encoding = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)/.exec(text)
    ?.[1];
  if (encoding !== undefined && !ENCODINGS.test(encoding)) {
    throw new RangeError("it is not drawn: its encoding is unsupported");
  }
  const found = XMLValidator.validate(text);
  if (found !== true) {
    throw new SyntaxError(`it is not drawn: ${found.err.msg}`);
  }
  const parsed: readonly Parsed[] = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: "",
    removeNSPrefix: true,
    processEntities: false,
    parseTagValue: false,
    parseAttributeValue: false,
  }).parse(text);
  const root: Element = {
    name: "",
    attributes: [],
    children: elementsOf(parsed),
    text: "",
  };
  const all = [root];
  for (const each of all) { // grows while iterating
    for (const child of each.children) all.push(child);
    if (all.length > MOST_ELEMENTS) throw tooMany();
  }
  const byId = new Map<string, Element>();
  for (const element of all) {
    for (const [name, value] of element.attributes) {
      if (name === "id" && !byId.has(value)) byId.set(value, element);
    }
  }
  // Style sheets may apply to any number of elements, so they may refer to gradients only, which contain nothing but
  // stops.
  for (const { name, text } of all) {
    if (name !== "style") continue;
    for (const id of idsIn(text)) {
      const referred = byId.get(id)?.name ?? "";
      if (referred === "" || referred.endsWith("Gradient")) continue;
      throw new RangeError(
        `it is not drawn: its style sheet refers to an element '${referred}'`,
      );
    }
  }
  if (drawnElements(root, byId) > MOST_ELEMENTS) throw tooMany();
}

function tooMany(): RangeError {
  return new RangeError(
    `it is not drawn: it has more than ${MOST_ELEMENTS} elements`,
  );
}

function elementsOf(parsed: readonly Parsed[]): Element[] {
  return parsed.flatMap((each) => {
    const name = Object.keys(each).find((key) => key !== ":@");
    if (name === undefined || name === "#text" || name.startsWith("?")) {
      return [];
    }
    const within = each[name] as readonly Parsed[];
    const attributes = Object.entries(each[":@"] ?? {}) as [string, string][];
    const text = within.map((part) => part["#text"] ?? "").join("");
    return [{ name, attributes, children: elementsOf(within), text }];
  });
}

/** Counts elements as often as they are drawn; exact below the limit only. */
function drawnElements(
  root: Element,
  byId: ReadonlyMap<string, Element>,
): number {
  const counts = new Map<Element, number>();
  // Post-order: children and referenced elements are counted before the elements that contain them.
  const stack = [root];
  while (stack.length > 0) {
    const element = stack.at(-1)!;
    const parts = [...element.children, ...referred(element, byId)];
    if (!counts.has(element)) {
      counts.set(element, 1); // in cycles, each element counts once
      for (const part of parts) if (!counts.has(part)) stack.push(part);
      continue;
    }
    stack.pop();
    if (counts.get(element)! > 1) continue;
    const sum = parts.reduce((sum, part) => sum + counts.get(part)!, 1);
    counts.set(element, Math.min(sum, Number.MAX_SAFE_INTEGER));
  }
  return counts.get(root)!;
}

function referred(
  { attributes }: Element,
  byId: ReadonlyMap<string, Element>,
): Element[] {
  return attributes.flatMap(([name, value]) => {
    const ids = name === "href" && value.trim().startsWith("#")
      ? [value.trim().slice(1)]
      : idsIn(value);
    return ids.flatMap((id) => byId.get(id) ?? []);
  });
}

/** Returns the ids that CSS references by `url(#ID)`. */
function idsIn(css: string): string[] {
  return [...css.matchAll(/url\(\s*["']?#([^"')\s]*)/gi)].map(([, id]) => id!);
}
