import { env } from "cloudflare:workers";
import { AgentPool } from "../../../src/objects/agent-pool.ts";
import { BuildLog } from "../../../src/objects/build-log.ts";
import { GitHost } from "../../../src/objects/git-host.ts";
import { type Cross, PlatformError } from "./crossing.ts";

const CLASSES = { AGENT_POOL: AgentPool, BUILD_LOG: BuildLog, GIT_HOST: GitHost } as const;
type Kind = keyof typeof CLASSES;
type Call = (...given: unknown[]) => Promise<unknown>;

const methodsOf = (kind: Kind): string[] =>
  Object.getOwnPropertyNames(CLASSES[kind].prototype).filter((name) => name !== "constructor");

/** The helpers of the tests get into an object by a request of their own. */
const isOfTheTest = (given: unknown[]): boolean => given[0] === "http://x";

/** A stub whose calls cross the platform. One that met a failure of the platform is broken, as in production. */
const standBeforeStub = (stub: object, kind: Kind, name: string, cross: Cross): void => {
  let broken: PlatformError | null = null;
  for (const method of methodsOf(kind)) {
    const real = (stub as Record<string, Call>)[method]!;
    const value: Call = async (...given) => {
      const proceed = async () => Reflect.apply(real, stub, given) as Promise<unknown>;
      if (method === "fetch" && isOfTheTest(given)) return proceed();
      if (broken) throw broken;
      try {
        return await cross({ part: kind, method, name, statements: [], given }, proceed);
      } catch (error) {
        if (error instanceof PlatformError) broken = error;
        throw error;
      }
    };
    Object.defineProperty(stub, method, { value });
  }
};

/** Stands before the objects of all kinds. */
export const standBeforeObjects = (cross: Cross): { leave: () => void } => {
  const kinds = Object.keys(CLASSES) as Kind[];
  for (const kind of kinds) {
    const objects = env[kind] as DurableObjectNamespace;
    const real = objects.getByName.bind(objects);
    objects.getByName = ((name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
      const stub = real(name, options);
      standBeforeStub(stub, kind, name, cross);
      return stub;
    }) as typeof objects.getByName;
  }
  return {
    leave: () => {
      for (const kind of kinds) Reflect.deleteProperty(env[kind], "getByName");
    },
  };
};
