import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import { type RunningAgent, startAgent, startRegistered } from "./agent.ts";
import { CallProxy } from "./call-proxy.ts";
import type { LocalService } from "./service.ts";

/** The capabilities of a machine, as options of `register`. */
const SKILLS = {
  mac: ["--ios", "--no-android", "--no-web"],
  android: ["--no-ios", "--android", "--no-web"],
  web: ["--no-ios", "--no-android", "--web"],
} as const;
const MACOS = 1;

/** A machine with an agent, which reaches the service through its own proxy. */
export class Machine {
  readonly name: keyof typeof SKILLS;
  readonly id: string;
  readonly proxy: CallProxy;
  #agent: RunningAgent;

  private constructor(name: keyof typeof SKILLS, id: string, proxy: CallProxy, agent: RunningAgent) {
    this.name = name;
    this.id = id;
    this.proxy = proxy;
    this.#agent = agent;
  }

  /** Registers it and starts its agent. The API says that it is a Mac, because the program reports the real system. */
  static async start(
    service: LocalService,
    client: Client,
    name: keyof typeof SKILLS,
    start: string[] = [],
  ): Promise<Machine> {
    const proxy = await CallProxy.to(service.port);
    const register = [...SKILLS[name]];
    const agent = await startAgent(client, service.folder, name, { url: proxy.url, register, start });
    const { id } = JSON.parse(readFileSync(join(agent.state, "identity.json"), "utf8")) as { id: string };
    if (name === "mac") await client.call("PUT", `/buildagent/${id}`, { platform: MACOS });
    return new Machine(name, id, proxy, agent);
  }

  /** The folder of its identity and its copies. */
  get state(): string {
    return this.#agent.state;
  }

  printed(): string {
    return this.#agent.printed();
  }

  /** Kills the agent without warning, and restarts it, as a supervisor would. */
  async kill(): Promise<void> {
    const { process: child, state } = this.#agent;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    this.#agent = startRegistered(state, {});
  }

  /**
   * Kills the agent once, when it makes a call: before the service receives it, or before the agent gets the answer.
   * @returns when the agent has restarted
   */
  killAt(moment: "before" | "after", call: RegExp): Promise<void> {
    const { proxy } = this;
    return new Promise((resolve) => {
      const kill = (made: string): boolean => {
        if (!call.test(made)) return true;
        this.calm();
        void this.kill().then(resolve);
        return false;
      };
      if (moment === "before") proxy.passes = kill;
      else proxy.returns = kill;
    });
  }

  /** Stops killing the agent. */
  calm(): void {
    this.proxy.passes = () => true;
    this.proxy.returns = () => true;
  }

  async stop(): Promise<void> {
    await this.#agent.stop();
    this.proxy.close();
  }
}
