/** Makes a key a file name: percent-encodes `%`, `/`, NUL and the names `.` and `..`; an empty key becomes `%`. */
export function escapedName(key: string): string {
  const name = key.replaceAll(
    /[%/\0]/g,
    (char) =>
      `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  if (name === "") return "%";
  return name === "." || name === ".." ? name.replaceAll(".", "%2E") : name;
}

/** Returns the key that {@linkcode escapedName} made a name of. */
export function unescapedName(name: string): string {
  if (name === "%") return "";
  return name.replaceAll(
    /%([0-9A-F]{2})/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
}
