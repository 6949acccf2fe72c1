import { env } from "cloudflare:workers";

/** What a request asked of the other parts of the service. */
export interface Asked {
  /** Round trips to D1. */
  rounds: number;
  /** Calls of objects, as `AGENT_POOL arrive`. */
  calls: string[];
}

const bound = (target: object, name: string | symbol): unknown => {
  const found: unknown = Reflect.get(target, name);
  return typeof found === "function" ? found.bind(target) : found;
};

const ROUND = ["batch", "run", "all", "first", "raw", "exec"];

const countedDatabase = <T extends object>(real: T, asked: Asked): T =>
  new Proxy(real, {
    get(target, name) {
      const member = bound(target, name);
      if (typeof member !== "function") return member;
      if (name === "withSession") return (given: string) => countedDatabase(member(given), asked);
      return (...given: unknown[]) => {
        if (ROUND.includes(String(name))) asked.rounds += 1;
        return member(...given);
      };
    },
  });

const countedObjects = <N extends DurableObjectNamespace>(objects: N, kind: string, asked: Asked): N =>
  new Proxy(objects, {
    get(target, name) {
      if (name !== "getByName") return bound(target, name);
      return (given: string) =>
        new Proxy(target.getByName(given), {
          get(stub, method) {
            const callable = stub as unknown as Record<string | symbol, (...given: unknown[]) => unknown>;
            if (typeof callable[method] !== "function") return undefined;
            return (...words: unknown[]) => {
              asked.calls.push(`${kind} ${String(method)}`);
              return callable[method]!(...words);
            };
          },
        });
    },
  });

/** The bindings of a deployment that counts what is asked of D1 and of the objects. */
export const countedBindings = (): { asked: Asked; bindings: Partial<Env> } => {
  const asked: Asked = { rounds: 0, calls: [] };
  const bindings = {
    DB: countedDatabase(env.DB, asked),
    AGENT_POOL: countedObjects(env.AGENT_POOL as Env["AGENT_POOL"], "AGENT_POOL", asked),
    BUILD_LOG: countedObjects(env.BUILD_LOG as Env["BUILD_LOG"], "BUILD_LOG", asked),
    GIT_HOST: countedObjects(env.GIT_HOST as Env["GIT_HOST"], "GIT_HOST", asked),
  };
  return { asked, bindings };
};
