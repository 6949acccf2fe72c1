import { env } from "cloudflare:workers";
import { isForAllReleases } from "../../src/domain/durable-objects.ts";
import { GitHostObject } from "../../src/objects/host/git-host.ts";
import { BuildLog } from "../../src/objects/log/build-log.ts";
import { AgentPool } from "../../src/objects/pool/agent-pool.ts";
import { VersionedObject } from "../../src/objects/versioned-object.ts";
import { VERSION } from "../../src/protocol/version.ts";

type Calls = Record<string, (...given: unknown[]) => Promise<unknown>>;

const CLASSES = { AGENT_POOL: AgentPool, BUILD_LOG: BuildLog, GIT_HOST: GitHostObject } as const;
export type Kind = keyof typeof CLASSES;
export const KINDS = Object.keys(CLASSES) as Kind[];

const HANDLERS = ["constructor", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"];

export const methodsOf = (kind: Kind): string[] => {
  const names: string[] = [];
  let methods: object = CLASSES[kind].prototype;
  for (; methods !== VersionedObject.prototype; methods = Object.getPrototypeOf(methods))
    names.push(...Object.getOwnPropertyNames(methods));
  return names.filter((name) => !HANDLERS.includes(name) && !isForAllReleases(name));
};

/** Returns the platform's own stub, which accepts only calls that name the release. */
export const bareStub = (kind: Kind, name: string): DurableObjectStub =>
  Object.getPrototypeOf(env[kind]).getByName.call(env[kind], name);

/** Lets tests call the methods of objects by their names. */
export const callObjectsByName = (): void => {
  for (const kind of KINDS) {
    const objects = env[kind] as DurableObjectNamespace;
    if (Object.hasOwn(objects, "getByName")) continue;
    const named = (stub: DurableObjectStub): DurableObjectStub => {
      const calls = stub as unknown as Calls;
      for (const method of methodsOf(kind)) {
        const value = (...given: unknown[]) => calls.call!(VERSION, method, given);
        Object.defineProperty(stub, method, { value, configurable: true });
      }
      return stub;
    };
    const [get, getByName] = [objects.get.bind(objects), objects.getByName.bind(objects)];
    Object.assign(objects, {
      get: (...of: Parameters<typeof get>) => named(get(...of)),
      getByName: (...of: Parameters<typeof getByName>) => named(getByName(...of)),
    });
  }
};

/** Creates a test's own objects. The service calls their methods like those of real ones. */
export const fakeObjects = <N>(objectOf: (name: string) => object): N => {
  const getByName = (name: string) => {
    const object = objectOf(name) as Calls;
    const call = (_release: string, method: string, given: unknown[]) => object[method]!(...given);
    return { ...object, call };
  };
  return { getByName } as N;
};

/**
 * Creates objects of a release older than 0.14.0. Their methods are called by name, and the called names are listed.
 */
export const earlierObjects = <K extends Kind>(kind: K) => {
  const called: string[] = [];
  const objects = new Proxy(env[kind], {
    get: (_, name) => {
      if (name !== "getByName") throw new Error(`${String(name)} is not available in this test`);
      return (of: string) => {
        const stub = env[kind].getByName(of) as unknown as Calls;
        return new Proxy(stub, {
          get:
            (_stub, method) =>
            async (...given: unknown[]) => {
              if (method === "call") throw new TypeError('The RPC receiver does not implement the method "call".');
              called.push(String(method));
              return stub[String(method)]!(...given);
            },
        });
      };
    },
  });
  return { called, objects: { [kind]: objects } as Pick<Env, K> };
};
