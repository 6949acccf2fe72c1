import { env } from "cloudflare:workers";
import { KINDS, type Kind } from "../objects-by-name.ts";
import { type Cross, PlatformError } from "./crossing.ts";

type Call = (...given: unknown[]) => Promise<unknown>;

/** The platform's methods of a stub. */
const METHODS = ["call", "fetch", "keepDelivery", "noteDelivery", "summaryOf"];

/** The helpers of the tests enter an object with their own request. */
const isOfTheTest = (given: unknown[]): boolean => given[0] === "http://x";

/** A stub whose calls cross the platform. After a failure of the platform it is broken, as in production. */
const standBeforeStub = (stub: object, kind: Kind, name: string, cross: Cross): void => {
  let broken: PlatformError | null = null;
  for (const called of METHODS) {
    const real = (stub as Record<string, Call>)[called]!;
    const value: Call = async (...words) => {
      const proceed = async () => Reflect.apply(real, stub, words) as Promise<unknown>;
      if (called === "fetch" && isOfTheTest(words)) return proceed();
      if (broken) throw broken;
      const [, method, given] = called === "call" ? (words as [string, string, unknown[]]) : ["", called, words];
      try {
        return await cross({ part: kind, method, name, statements: [], given }, proceed);
      } catch (error) {
        if (error instanceof PlatformError) broken = error;
        throw error;
      }
    };
    Object.defineProperty(stub, called, { value, configurable: true });
  }
};

/** Wraps the objects of all kinds. */
export const standBeforeObjects = (cross: Cross): { leave: () => void } => {
  const originals = KINDS.map((kind) => [env[kind], env[kind].getByName] as const);
  for (const kind of KINDS) {
    const objects = env[kind] as DurableObjectNamespace;
    const real = objects.getByName;
    objects.getByName = ((name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
      const stub = real(name, options);
      standBeforeStub(stub, kind, name, cross);
      return stub;
    }) as typeof objects.getByName;
  }
  return {
    leave: () => {
      for (const [objects, getByName] of originals) Object.assign(objects, { getByName });
    },
  };
};
