import { HOP_HEADERS } from "../../protocol/headers.ts";
import {
  BOOT_HEADER,
  FEATURES_HEADER,
  featuresIn,
  type HeartbeatMessage,
  parseHeartbeat,
} from "../../protocol/jobs.ts";
import { XCODES_HEADER, xcodesIn } from "../../protocol/xcodes.ts";
import type { PoolEngine } from "./engine.ts";
import { readAttachment } from "./sockets.ts";

/** Accepts messages on the sockets on which agents, and Workers in a long poll, wait for hints. */
export class Waiting {
  readonly #engine: PoolEngine;

  constructor(engine: PoolEngine) {
    this.#engine = engine;
  }

  /** Opens a socket for an agent, or for a Worker in a long poll until a deadline. */
  open(headers: Headers): Response {
    if (headers.get("Upgrade") !== "websocket") return new Response(null, { status: 426 });
    const { sockets } = this.#engine;
    const now = Date.now();
    const agentId = headers.get(HOP_HEADERS.agentId) ?? "";
    const deadline = headers.get(HOP_HEADERS.deadline);
    const until = deadline === null ? null : Number(deadline);
    const call = {
      agentId,
      tokenHash: headers.get(HOP_HEADERS.tokenHash) ?? "",
      bootId: headers.get(BOOT_HEADER),
      features: featuresIn(headers.get(FEATURES_HEADER)),
      xcodes: xcodesIn(headers.get(XCODES_HEADER)),
      until: sockets.reachableUntil(agentId, now) === null ? null : until,
    };
    const preview = this.#engine.preview("wait", call);
    if (!preview.ok) return new Response(null, { status: preview.refusal.kind === "unauthenticated" ? 401 : 409 });
    const client = sockets.accept({ agentId, until, openedAt: now, tokenHash: call.tokenHash });
    this.#engine.step("wait", call);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Handles a heartbeat on the agent's own socket, or a violation. The platform answers pings itself. */
  receive(socket: WebSocket, message: string | ArrayBuffer): void {
    const { sockets } = this.#engine;
    const { agentId, tokenHash, until } = readAttachment(socket);
    const beat = until === null && sockets.takesMessage(socket, Date.now()) ? parseHeartbeat(message) : null;
    const answer = beat ? this.#beat(agentId, tokenHash, beat) : null;
    if (beat && answer?.ok) sockets.reply(socket, { type: "heartbeat", lease: beat.lease, ...answer.value });
    else if (sockets.rejectMessage(socket)) this.leave(socket);
  }

  leave(socket: WebSocket): void {
    const { agentId } = readAttachment(socket);
    const until = this.#engine.sockets.reachableUntil(agentId, Date.now(), socket);
    if (until !== null) this.#engine.step("leave", { agentId, until });
  }

  #beat(agentId: string, tokenHash: string, { lease: fence, boot: bootId = null }: HeartbeatMessage) {
    const answer = this.#engine.step("heartbeat", { agentId, tokenHash, bootId, fence, bySocket: true });
    const deadline = answer.ok ? answer.value.leaseExpiresAt : undefined;
    if (deadline !== undefined) this.#engine.sockets.keep(agentId, { fence, expiresAt: Date.parse(deadline) });
    return answer;
  }
}
