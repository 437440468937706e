/** Roles of classes that a pickle may name, by the number that stands for them in a row of `Tag.CLASS`. */
export const ROLES = [
  /** Called with nothing or a list of pairs, it makes a dict. */
  "dict",
  /** Called with three values, it makes a tuple of them. */
  "triple",
  /** The function by which protocols 0 and 1 make a tuple of a named class. */
  "reconstructor",
  /** The type `tuple`, as an argument of that function. */
  "tuple",
] as const;

/** Role of a class that a pickle may name. */
export type ClassRole = typeof ROLES[number];

/** Classes that a pickle may name, as `module.name`, and what each makes. */
export type AllowedClasses = ReadonlyMap<string, ClassRole>;

/** The one class that plain data and folder structures are made of. */
export const ORDERED_DICT: AllowedClasses = new Map([
  ["collections.OrderedDict", "dict"],
]);
