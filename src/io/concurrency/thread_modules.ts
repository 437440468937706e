/** A module that other threads import before they do anything else, and its function, which is called with a text. */
export interface ThreadModule {
  readonly module: string;
  readonly name: string;
  readonly argument: string;
}

const added: ThreadModule[] = [];

/** Has the threads that are started from now on call a module's function first. */
export function addThreadModule(module: ThreadModule): void {
  added.push(module);
}

/** What a thread that is started now has to do first. */
export function threadModules(): ThreadModule[] {
  return [...added];
}

/** Does in a thread what it has to do first. */
export async function importThreadModules(
  modules: readonly ThreadModule[],
): Promise<void> {
  await Promise.all(modules.map(async ({ module, name, argument }) => {
    await (await import(module))[name](argument);
  }));
}
