/** Formatting for man(1), in the macros of man(7). */

/** First line of a page in section 1. */
export function title(name: string, version: string): string {
  return `.TH ${quoted(name.toUpperCase())} 1 "" ${
    quoted(`recordfs ${version}`)
  } "User Commands"\n`;
}

export function heading(text: string): string {
  return `.SH ${quoted(text.toUpperCase())}\n`;
}

export function subheading(text: string): string {
  return `.SS ${quoted(text)}\n`;
}

export function paragraph(text: string): string {
  return `.PP\n${filled(text)}\n`;
}

/** A term with its meaning below. */
export function item(term: string, meaning: string): string {
  return `.TP\n.B ${quoted(term)}\n${filled(meaning)}\n`;
}

export function preformatted(text: string): string {
  return `.PP\n.nf\n${escaped(text.replace(/^\n+|\n+$/g, ""))}\n.fi\n`;
}

/** Breaks text into lines, so that the source is readable too; man fills them. */
function filled(text: string): string {
  return escaped(text.replaceAll(/(?=\S.{60})(.{1,64}) /g, "$1\n"));
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}

/** Escapes text: dashes stay ASCII for copying, and no line may begin like a macro. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti").replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga").replaceAll(/^(?=[.'])/gm, "\\&");
}
