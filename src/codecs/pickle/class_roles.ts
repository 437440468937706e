/** Roles of classes that a pickle may name; a row of `Tag.CLASS` holds the index. */
export const ROLES = [
  /** Makes a dict when called with nothing or a list of pairs. */
  "dict",
  /** Makes a tuple of the three values it is called with. */
  "triple",
  /** Function that protocols 0 and 1 call to make a tuple of a named class. */
  "reconstructor",
  /** The type `tuple`, as an argument of that function. */
  "tuple",
] as const;

export type ClassRole = typeof ROLES[number];

/** Classes that a pickle may name, as `module.name`, with their roles. */
export type AllowedClasses = ReadonlyMap<string, ClassRole>;

/** The only class that plain data and folder structures need. */
export const ORDERED_DICT: AllowedClasses = new Map([
  ["collections.OrderedDict", "dict"],
]);
