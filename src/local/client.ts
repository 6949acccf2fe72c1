/** A client of the API. */
export class Client {
  readonly url: string;
  readonly token: string;
  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** @throws ServiceProblem for every status except 2xx */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
    const text = await response.text();
    if (!response.ok) throw new ServiceProblem(response.status, `${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Returns the matching record in the list at `path`, or creates it with POST. */
  async ensure<T>(path: string, matches: (record: T) => boolean, body: unknown): Promise<T> {
    const existing = (await this.call<T[]>("GET", path)).find(matches);
    return existing ?? (await this.call<T>("POST", path, body));
  }
}

export class ServiceProblem extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
