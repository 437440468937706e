/**
 * Takes an answer of a tree that is there at once.
 *
 * The loop that serves a mount blocks its thread in `read(2)`, so no promise would ever settle there.
 *
 * @throws {TypeError} If the answer must be waited for.
 */
export function localAnswer<T>(answer: T | Promise<T>): T {
  if (!(answer instanceof Promise)) return answer;
  answer.catch(() => {}); // nobody will look at it
  throw new TypeError(
    "A part of the container's index is not local: a mount needs a local source",
  );
}
