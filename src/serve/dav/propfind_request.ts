import { PACKAGES } from "../../base/packages.ts";
import { bodyText } from "../body_text.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";

export const DAV = "DAV:";

export interface Property {
  readonly namespace: string;
  readonly name: string;
}

/** Request of a PROPFIND: all properties and some more, only their names, or some. */
export type PropfindRequest =
  | { readonly kind: "all"; readonly properties: readonly Property[] }
  | { readonly kind: "names" }
  | { readonly kind: "some"; readonly properties: readonly Property[] };

/** Maximum bytes of a body, and properties requested. */
const LONGEST_BODY = 64 << 10;
const MOST_PROPERTIES = 200;
/** Maximum number of tags of a body, because the parser is slow, and their nesting depth. */
const MOST_TAGS = 2 * MOST_PROPERTIES + 32;
const DEEPEST = 32;
/** Maximum characters of a tag, and attributes of all tags: the parser compares those of a tag pairwise. */
const LONGEST_TAG = 4096;
const MOST_ATTRIBUTES = 1000;

/** Parser's key for the attributes, after the children. */
const ATTRIBUTES = ":@";

/** Name with an optional prefix. The parser takes both parts for plain text (XML Namespaces, production 7). */
const QUALIFIED = /^[^:]+(:[^:]+)?$/;

/** Element as parsed, with order preserved: its name with its children, and its attributes. */
type Node = Readonly<Record<string, unknown>>;

interface Element extends Property {
  readonly children: readonly Element[];
}

/** Reads the body of a PROPFIND (RFC 4918, 9.1); an empty one requests all. Throws if malformed or too long. */
export async function readPropfind(
  request: RequestLike,
): Promise<PropfindRequest> {
  const text = await bodyText(request, LONGEST_BODY, "a PROPFIND");
  if (text.trim() === "") return { kind: "all", properties: [] };
  requireFewTags(text);
  const [root] = await parse(text);
  if (root === undefined || !isDav(root, "propfind")) throw badBody();
  const [what, more] = root.children
    .filter(({ namespace }) => namespace === DAV);
  switch (what?.name) {
    case "allprop":
      return {
        kind: "all",
        properties: more?.name === "include" ? few(more.children) : [],
      };
    case "propname":
      return { kind: "names" };
    case "prop":
      return { kind: "some", properties: few(what.children) };
    default:
      throw badBody();
  }
}

function few(properties: readonly Property[]): readonly Property[] {
  if (properties.length <= MOST_PROPERTIES) return properties;
  throw new ServeError(
    "too-large",
    `A request may name at most ${MOST_PROPERTIES} properties`,
  );
}

/** Rejects texts with more elements than a request needs, because the parser is slow with many. */
function requireFewTags(text: string): void {
  let tags = 0;
  let depth = 0;
  let isDeep = false;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const end = text.indexOf(">", at);
    if (++tags > MOST_TAGS) break;
    if (end < 0 || end - at > LONGEST_TAG) {
      throw new ServeError(
        "too-large",
        `A tag of a PROPFIND may have at most ${LONGEST_TAG} characters`,
      );
    }
    if (text[at + 1] === "/") depth--;
    else if (text[end - 1] !== "/") isDeep ||= ++depth > DEEPEST;
  }
  const attributes = text.split("=", MOST_ATTRIBUTES + 2).length - 1;
  if (tags > MOST_TAGS || attributes > MOST_ATTRIBUTES) {
    throw new ServeError(
      "too-large",
      `A request may name at most ${MOST_PROPERTIES} properties`,
    );
  }
  if (isDeep) throw badBody();
}

/** Parses a document. A document type declaration is rejected, so only XML's own entities can occur. */
async function parse(text: string): Promise<Element[]> {
  const { XMLParser, XMLValidator }: typeof import("fast-xml-parser") =
    await import(PACKAGES.fastXmlParser);
  if (/<!DOCTYPE/i.test(text) || XMLValidator.validate(text) !== true) {
    throw badBody();
  }
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: "",
    ignoreDeclaration: true,
    ignorePiTags: true,
    processEntities: false,
  });
  try {
    return elementsOf(parser.parse(text) as Node[], new Map());
  } catch (cause) {
    throw cause instanceof ServeError ? cause : badBody(cause);
  }
}

function elementsOf(
  nodes: readonly Node[],
  outer: ReadonlyMap<string, string>,
): Element[] {
  return nodes.flatMap((node) => {
    const tag = Object.keys(node).find((key) => key !== ATTRIBUTES);
    if (tag === undefined || tag.startsWith("#")) return [];
    const prefixes = new Map(outer);
    const attributes = (node[ATTRIBUTES] ?? {}) as Record<string, unknown>;
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "xmlns") prefixes.set("", textIn(value));
      else if (key.startsWith("xmlns:")) {
        prefixes.set(key.slice(6), textIn(value));
      }
    }
    if (!QUALIFIED.test(tag)) throw badBody();
    const colon = tag.indexOf(":");
    const prefix = colon < 0 ? "" : tag.slice(0, colon);
    const namespace = prefixes.get(prefix);
    if (namespace === undefined && prefix !== "") throw badBody();
    const children = elementsOf(node[tag] as Node[], prefixes);
    return [{
      namespace: namespace ?? "",
      name: tag.slice(colon + 1),
      children,
    }];
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/** Returns the text of an attribute, with XML's own entities decoded. */
function textIn(value: unknown): string {
  return String(value).replaceAll(/&\w+;/g, (name) => ENTITIES[name] ?? name);
}

function isDav({ namespace, name }: Property, wanted: string): boolean {
  return namespace === DAV && name === wanted;
}

function badBody(cause?: unknown): ServeError {
  return new ServeError(
    "bad-request",
    "The body must be that of a PROPFIND: <propfind xmlns='DAV:'> with allprop, propname or prop",
    { cause },
  );
}
