/** A module that other threads import first, and its function, which is called with `argument`. */
export interface ThreadModule {
  readonly module: string;
  readonly name: string;
  readonly argument: string;
}

const added: ThreadModule[] = [];

/** Makes threads started from now on call a module's function first. */
export function addThreadModule(module: ThreadModule): void {
  added.push(module);
}

export function threadModules(): ThreadModule[] {
  return [...added];
}

export async function importThreadModules(
  modules: readonly ThreadModule[],
): Promise<void> {
  await Promise.all(modules.map(async ({ module, name, argument }) => {
    await (await import(module))[name](argument);
  }));
}
