import { json } from "./answers.ts";
import type { HostSettings } from "./host-state.ts";
import { RecordingHost } from "./recording-host.ts";

/** The name under which tests inside workerd set up hosts and read their requests. */
const RECORDER = "recorder.example";

/**
 * Answers every outbound request of the Worker under test: each host by its name, set up with `PUT
 * https://recorder.example/NAME` and read with GET. No request leaves the machine.
 */
export const recordingHosts = () => {
  const hosts = new Map<string, RecordingHost>();
  const strangers = new Set<string>();
  return async (request: Request): Promise<Response> => {
    const { hostname, pathname } = new URL(request.url);
    if (hostname !== RECORDER) {
      const host = hosts.get(hostname);
      if (host) return host.handle(request);
      strangers.add(hostname);
      return new Response("no such host", { status: 530 });
    }
    const name = pathname.slice(1);
    if (request.method === "PUT") {
      const settings = (await request.json()) as HostSettings;
      const known = hosts.get(name);
      if (known) Object.assign(known.settings, settings);
      else hosts.set(name, new RecordingHost(settings));
    }
    const host = hosts.get(name);
    // 410: nobody set it up, and it got a request.
    if (!host) return json(strangers.has(name) ? 410 : 404, null);
    const { requests, place } = host;
    return json(200, {
      requests,
      hooks: place.hooks,
      statuses: place.statuses,
      jobs: place.jobs,
      minted: place.minted,
      checkRuns: place.checkRuns,
      ordered: place.ordered,
      appHook: place.appHook,
    });
  };
};
