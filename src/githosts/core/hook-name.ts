/** What the pool calls one generation of a connection's hook, to remember that it is no longer valid. */
export const hookName = (connectionId: string, generation: number): string => `hook:${connectionId}.${generation}`;
