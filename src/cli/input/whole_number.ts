import { InvalidArgumentError } from "commander";

/** Reads the value of an option that is a whole number. */
export function wholeNumberFrom(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    const isOne = /^[0-9]+$/.test(text) && Number.isSafeInteger(number) &&
      number >= least;
    if (isOne) return number;
    throw new InvalidArgumentError(`It is a whole number from ${least} on.`);
  };
}
