/** A key of any characters as one name of a file: what no name may have is written as in URLs. */
export function escapedName(key: string): string {
  const name = key.replaceAll(
    /[%/\0]/g,
    (char) =>
      `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  if (name === "") return "%";
  return name === "." || name === ".." ? name.replaceAll(".", "%2E") : name;
}
