/** Classes that a pickle may name, as `module.name`; each builds a dict. */
export type AllowedClasses = ReadonlySet<string>;

/** The one class that plain data and folder structures are made of. */
export const ORDERED_DICT: AllowedClasses = new Set([
  "collections.OrderedDict",
]);
