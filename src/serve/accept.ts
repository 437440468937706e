/** A form in which an answer can be sent. */
type MediaType = "text/html" | "application/json";

/** How much a client wants a form of an answer. */
interface Preference {
  /** From 0, which refuses it, to 1. */
  readonly quality: number;
  /** Of the range that says so: 3 names the form, 2 its main type, 1 is any form, 0 where no range has it. */
  readonly precision: number;
}

/** A media range and its parameters, up to a comma outside quotes. */
const RANGE = /((?:[^,"]|"(?:[^"\\]|\\.)*"?)+)/g;
/** A weight, which has three decimals at most. */
const WEIGHT = /;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*(?:;|$)/i;

/**
 * How much a client wants a form, as `Accept` says it (RFC 9110, 12.5.1): the most precise range that has the form counts.
 * Parameters other than the weight are not compared. A range with a wrong weight says nothing.
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

/**
 * Whether an answer is sent as HTML and not as JSON. Of two that are wanted as much, the one that is named more precisely
 * is sent, and HTML where both are named alike, or neither.
 */
export function prefersHtml(accept: string | null): boolean {
  const html = preferenceFor(accept, "text/html");
  const json = preferenceFor(accept, "application/json");
  if (html.quality !== json.quality) return html.quality > json.quality;
  return html.precision >= json.precision;
}

/** Whether a client asks for HTML by name, as browsers do, and wants nothing else more. */
export function asksForHtml(accept: string | null): boolean {
  const { quality, precision } = preferenceFor(accept, "text/html");
  return precision === 3 && quality > 0 && prefersHtml(accept);
}
