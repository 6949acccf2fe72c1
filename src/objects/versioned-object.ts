import { DurableObject } from "cloudflare:workers";
import { isForAllReleases } from "../domain/durable-objects.ts";
import { VERSION } from "../protocol/version.ts";

/** Methods that the platform calls. */
const HANDLERS = ["constructor", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"];

/** An object whose methods only code of the same release can call. */
export class VersionedObject extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#hideMethods();
  }

  /**
   * Calls a method for a Worker or an object.
   * @throws if the caller has another release; the method does not run then
   */
  async call(release: string, method: string, argumentList: unknown[]): Promise<unknown> {
    if (release !== VERSION) throw new TypeError(`${VERSION} does not implement the method "${method}" of ${release}.`);
    return (this as unknown as Record<string, (...words: unknown[]) => unknown>)[method]!(...argumentList);
  }

  /**
   * Hides methods from callers of releases before 0.14.0, which name a method directly. The platform does not let them
   * call an object's own properties.
   */
  #hideMethods(): void {
    let methods: object = Object.getPrototypeOf(this);
    for (; methods !== VersionedObject.prototype; methods = Object.getPrototypeOf(methods)) {
      for (const name of Object.getOwnPropertyNames(methods)) {
        if (HANDLERS.includes(name) || isForAllReleases(name)) continue;
        Object.defineProperty(this, name, { value: Reflect.get(this, name) });
      }
    }
  }
}
