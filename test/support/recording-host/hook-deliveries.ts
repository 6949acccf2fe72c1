import { type Call, json, missing } from "./answers.ts";
import type { HostedAttempt } from "./host-state.ts";

const listed = ({ payload: _, ...attempt }: HostedAttempt) => ({
  ...{ duration: 0.1, installation_id: 99, throttled_at: null },
  ...attempt,
});

/** `/app/hook/deliveries`: GitHub's attempts to deliver, page by page, and redeliveries. */
export const hookDeliveries = (method: string, { place, parts, query }: Call): Response => {
  const [, , , id, more] = parts;
  const { attempts } = place.settings;
  if (id === undefined) {
    const isFailure = ({ status_code: code }: HostedAttempt) => code < 200 || code > 299;
    const all = query.get("status") === "failure" ? attempts.filter(isFailure) : attempts;
    const [from, size] = [Number(query.get("cursor") ?? 0), Number(query.get("per_page") ?? 30)];
    const path = `${place.api}/app/hook/deliveries?per_page=${size}&status=failure&cursor=${from + size}`;
    const link: Record<string, string> = from + size < all.length ? { Link: `<${path}>; rel="next"` } : {};
    return json(200, all.slice(from, from + size).map(listed), link);
  }
  const found = attempts.find((attempt) => attempt.id === Number(id));
  if (!found) return missing();
  if (more === "attempts" && method === "POST") {
    place.ordered.push(found.id);
    place.onOrder?.(found.id);
    return json(202, {});
  }
  return json(200, { ...listed(found), request: { headers: {}, payload: found.payload }, response: {} });
};
