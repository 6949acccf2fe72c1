import { Agent, type IncomingMessage, request } from "node:http";

export interface Answer {
  status: number;
  text: string;
}

export interface Asked {
  token?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A caller that opens as many connections as it has questions at once and keeps them: `fetch` costs far more CPU. */
export class KeepAlive {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  ask(method: string, path: string, { token, headers = {}, body, signal }: Asked = {}): Promise<Answer> {
    const all: Record<string, string> = { ...headers };
    if (token) all.Authorization = `Bearer ${token}`;
    if (body !== undefined) all["Content-Length"] = String(Buffer.byteLength(body));
    if (body !== undefined) all["Content-Type"] ??= "application/json";
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { method, agent: this.#agent, headers: all, signal });
      sent.on("response", (response) =>
        textOf(response).then((text) => resolve({ status: response.statusCode!, text }), reject),
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** The answer's record. @throws where it is not a success */
  async get<T>(method: string, path: string, asked?: Asked): Promise<T> {
    const { status, text } = await this.ask(method, path, asked);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  close(): void {
    this.#agent.destroy();
  }
}

const textOf = async (response: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};
