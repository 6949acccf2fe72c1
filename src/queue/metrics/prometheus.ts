import type { Metrics } from "../../protocol/metrics.ts";
import type { Requires } from "../../protocol/pipeline.ts";

type Labels = Record<string, string>;
export type Sample = [labels: Labels, value: number];

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const line = (name: string, [labels, value]: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${pairs.join(",")}} ${value}`;
};

const metric =
  (type: "gauge" | "counter") =>
  (name: string, help: string, samples: Sample[]): string =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map((sample) => line(name, sample)), ""].join("\n");

export const gauge = metric("gauge");
/** Creates a metric of a number that only increases. Its name ends with `_total`. */
export const counter = metric("counter");

const requirementLabels = ({ platform, ios, android, web, labels }: Requires): Record<string, string> => ({
  platform: platform ?? "",
  capabilities: [ios && "ios", android && "android", web && "web"].filter(Boolean).join(","),
  labels: [...(labels ?? [])].sort().join(","),
});

/** Formats metrics in the Prometheus text format 0.0.4. Times are in seconds. */
export const toPrometheus = ({ orgId, builds, oldestWaitSeconds, agents, outbox, byRequirement }: Metrics): string => {
  const org = { org: orgId };
  const toSamples = (counts: Record<string, number>, label: string): Sample[] =>
    Object.entries(counts).map(([name, value]) => [{ ...org, [label]: name }, value]);
  const each = (countOf: (group: Metrics["byRequirement"][number]) => number): Sample[] =>
    byRequirement.map((group) => [{ ...org, ...requirementLabels(group.requires) }, countOf(group)]);
  return [
    gauge("millrace_builds", "Active builds by status.", toSamples(builds, "status")),
    gauge("millrace_oldest_wait_seconds", "Seconds that the oldest queued build has waited.", [
      [org, oldestWaitSeconds],
    ]),
    gauge("millrace_agents", "Agents by state; online ones are idle, busy or draining.", toSamples(agents, "state")),
    gauge(
      "millrace_outbox",
      "Builds not yet written to D1, consecutive failed attempts, and dead letters.",
      toSamples(outbox, "kind"),
    ),
    gauge(
      "millrace_required_waiting",
      "Queued builds that require such an agent.",
      each((group) => group.waiting),
    ),
    gauge(
      "millrace_required_running",
      "Leased builds that require such an agent.",
      each((group) => group.running),
    ),
    gauge(
      "millrace_required_oldest_wait_seconds",
      "Seconds that the oldest of these queued builds has waited.",
      each((group) => group.oldestWaitSeconds),
    ),
    gauge(
      "millrace_required_agents",
      "Online agents that meet the requirements.",
      each((group) => group.agents),
    ),
    gauge(
      "millrace_required_idle",
      "Idle agents that meet the requirements.",
      each((group) => group.idle),
    ),
  ].join("");
};
