import { filesBelow } from "./package/modules.ts";

/** Documents, and folders of them: the README and messages name them. */
const DOCUMENTS = [
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "README.md",
  "bench",
  "docs",
  "fuse",
  "src",
];

/** Paths of all documents and their pictures, from the repository's root. */
export function documentFiles(): string[] {
  return DOCUMENTS.flatMap((path) =>
    path.endsWith(".md")
      ? [path]
      : filesBelow(path).filter((file) => /\.(md|png)$/.test(file))
  );
}
