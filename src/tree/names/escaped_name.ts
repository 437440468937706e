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
