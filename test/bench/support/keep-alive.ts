import { Agent, type IncomingMessage, request } from "node:http";

export interface Answer {
  status: number;
  text: string;
}

export interface RequestOptions {
  token?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** An HTTP client that keeps its connections, one for each concurrent request. `fetch` needs far more CPU. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  send(method: string, path: string, { token, headers = {}, body, signal }: RequestOptions = {}): Promise<Answer> {
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

  /** Sends a request and returns its JSON. @throws Error if the status is 300 or more */
  async request<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    const { status, text } = await this.send(method, path, options);
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
