import { once } from "node:events";
import { WebSocket } from "ws";
import { SocketReply } from "../../../src/agent/wire/answers.ts";
import { HeartbeatSocket } from "../../../src/agent/wire/heartbeat.ts";
import { type RegisteredAgent, SAID } from "./build-requests.ts";

/** An agent's open socket, which carries its heartbeats. */
export class AgentSocket {
  readonly heartbeats = new HeartbeatSocket(undefined);
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.heartbeats.opened(socket);
    socket.on("message", (data) => {
      const reply = SocketReply.safeParse(JSON.parse(String(data)));
      if (reply.success) this.heartbeats.received(reply.data);
    });
  }

  static async open(url: string, { id, token }: RegisteredAgent): Promise<AgentSocket> {
    const headers = { Authorization: `Bearer ${token}`, ...SAID };
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/buildagent/${id}/poll`, { headers });
    await once(socket, "open");
    return new AgentSocket(socket);
  }

  close(): void {
    this.#socket.terminate();
  }
}
