/** Text for man(1), in the macros of man(7). */

/** The first line of a page of section 1. */
export function title(name: string, version: string): string {
  return `.TH ${quoted(name.toUpperCase())} 1 "" ${
    quoted(`recordfs ${version}`)
  } "User Commands"\n`;
}

/** A section's heading. */
export function heading(text: string): string {
  return `.SH ${quoted(text.toUpperCase())}\n`;
}

/** Text that is filled. */
export function paragraph(text: string): string {
  return `.PP\n${filled(text)}\n`;
}

/** A term, and below it what it means. */
export function item(term: string, meaning: string): string {
  return `.TP\n.B ${quoted(term)}\n${filled(meaning)}\n`;
}

/** Lines that stay as they are. */
export function preformatted(text: string): string {
  return `.PP\n.nf\n${escaped(text.replace(/^\n+|\n+$/g, ""))}\n.fi\n`;
}

/** Text in lines of a source that people may read, too; on the page they are filled. */
function filled(text: string): string {
  return escaped(text.replaceAll(/(?=\S.{60})(.{1,64}) /g, "$1\n"));
}

/** An argument of a macro. */
function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}

/** A dash is one of the command line, to be copied; a line must not begin as a macro does. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti").replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga").replaceAll(/^(?=[.'])/gm, "\\&");
}
