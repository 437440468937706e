/** Random JSON texts, and the values that Python parses from them. */
import fc from "./random.ts";
import { pythonLines } from "./programs/python.ts";

const TOKENS = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "-0.0",
  "1",
  "1.0",
  "1e5",
  "1E+05",
  "-2.50",
  "1.9999999999999999",
  "123456789012345.999",
  "99999.999999999999",
  "1000000.0000000001",
  "1e400",
  "9007199254740993",
  "-18446744073709551617",
  "NaN",
  "Infinity",
  "-Infinity",
  '""',
  '"é\\u00e9\\ud83d\\ude00"',
  '"\\ud800"',
  '"1.0"',
  '"-0 NaN 1e5"',
] as const;

const KEYS = ['"10"', '"2"', '"\\u0031"', '"a"', '"b\\n"', '"__proto__"', '""'];

const blank = fc.constantFrom("", "", " ", "\n\t");

/** Any JSON text, with unusual numbers, keys and whitespace, and duplicate keys. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.constantFrom(...TOKENS),
      fc.tuple(blank, fc.array(tie("value"), { maxLength: 4 }))
        .map(([between, items]) => `[${between}${items.join(`,${between}`)}]`),
      objectText(tie("value")),
    ),
  }),
).value;

/** The JSON text of any object. */
export const jsonObjectText: fc.Arbitrary<string> = objectText(jsonText);

function objectText(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const entry = fc.tuple(fc.constantFrom(...KEYS), value);
  return fc.tuple(blank, fc.array(entry, { maxLength: 5 })).map(
    ([between, entries]) =>
      `{${between}${
        entries.map(([key, item]) => `${key}${between}:${between}${item}`)
          .join(`${between},${between}`)
      }${between}}`,
  );
}

/**
 * Source of a Python function that describes everything distinguishable about a value: types, order of keys, bits of
 * floats.
 */
export const PYTHON_TYPED = `
def typed(v):
    name = type(v).__name__
    if isinstance(v, dict):
        return [name, [[typed(k), typed(w)] for k, w in v.items()]]
    if isinstance(v, (list, tuple)):
        return [name, [typed(w) for w in v]]
    if isinstance(v, (set, frozenset)):
        return [name, sorted(map(repr, v))]
    if isinstance(v, float):
        return [name, "nan" if v != v else v.hex()]
    return [name, ascii(v)]
`;

/** Returns the descriptions of the values that Python parses from JSON texts. */
export async function inPython(texts: readonly string[]): Promise<unknown[]> {
  return await pythonLines(
    `import json, sys
sys.set_int_max_str_digits(0)
${PYTHON_TYPED}
for text in json.load(sys.stdin):
    print(json.dumps(typed(json.loads(text))))`,
    JSON.stringify(texts),
  );
}
