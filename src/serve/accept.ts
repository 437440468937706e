type MediaType = "text/html" | "application/json";

/** Client's preference for a media type. */
interface Preference {
  /** From 0 (refused) to 1. */
  readonly quality: number;
  /** Of the matching range: 3 for the exact type, 2 for its main type, 1 for any type; 0 without a match. */
  readonly precision: number;
}

/** One media range with its parameters, up to a comma outside quotes. */
const RANGE = /((?:[^,"]|"(?:[^"\\]|\\.)*"?)+)/g;
const WEIGHT = /;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*(?:;|$)/i;

/**
 * Returns the preference that `Accept` (RFC 9110, 12.5.1) states for a media type; the most specific matching range
 * wins. Parameters other than the weight are not compared, and a range with a malformed weight is ignored.
 */
function preferenceFor(
  accept: string | null,
  type: MediaType,
): Preference {
  const main = type.slice(0, type.indexOf("/"));
  let found: Preference = { quality: 0, precision: 0 };
  for (const [range] of (accept ?? "*/*").matchAll(RANGE)) {
    const name = range.split(";", 1)[0]!.trim().toLowerCase();
    const precision = name === type
      ? 3
      : name === `${main}/*`
      ? 2
      : name === "*/*"
      ? 1
      : 0;
    if (precision === 0) continue;
    const weight = WEIGHT.exec(range)?.[1];
    if (weight === undefined && /;[ \t]*q[ \t]*=/i.test(range)) continue;
    const quality = Number(weight ?? 1);
    const isBetter = precision > found.precision ||
      precision === found.precision && quality > found.quality;
    if (isBetter) found = { quality, precision };
  }
  return found;
}

/** Whether to respond with HTML instead of JSON. At equal weight the more specific range wins, and HTML wins ties. */
export function prefersHtml(accept: string | null): boolean {
  const html = preferenceFor(accept, "text/html");
  const json = preferenceFor(accept, "application/json");
  if (html.quality !== json.quality) return html.quality > json.quality;
  return html.precision >= json.precision;
}

/** Whether a client names HTML explicitly, as browsers do, and prefers nothing else. */
export function asksForHtml(accept: string | null): boolean {
  const { quality, precision } = preferenceFor(accept, "text/html");
  return precision === 3 && quality > 0 && prefersHtml(accept);
}
