/** The last action of each key that has not ended; never rejects. */
const last = new Map<string, Promise<void>>();

/** Runs an action when all earlier ones of the same key have ended. */
export async function oneAtATime<T>(
  key: string,
  action: () => Promise<T>,
): Promise<T> {
  const result = (last.get(key) ?? Promise.resolve()).then(action);
  const ended = result.then(() => {}, () => {});
  last.set(key, ended);
  try {
    return await result;
  } finally {
    if (last.get(key) === ended) last.delete(key);
  }
}
