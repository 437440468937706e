/// <reference lib="dom" />
/**
 * Asks for the entries that the first view lists, while its modules load: a script of its own, since only the address
 * says whether they will be needed.
 */
export {}; // a module

/** As many as a listing asks for at once. */
const ENTRIES = 200;

const [, path, query] = /^#?\/*([^?]*)\??(.*)$/s.exec(location.hash)!;
const parameters = new URLSearchParams(query);
if (path === "" && !parameters.has("show")) {
  const at = Math.max(0, Math.trunc(Number(parameters.get("at"))) || 0);
  const first = at - at % ENTRIES;
  const link = document.createElement("link");
  Object.assign(link, {
    rel: "preload",
    as: "fetch",
    crossOrigin: "anonymous",
    href: `api/list?path=&at=${first}&limit=${ENTRIES}`,
  });
  document.head.append(link);
}
