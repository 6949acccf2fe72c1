import type { Metrics } from "../../protocol/metrics.ts";
import type { Requires } from "../../protocol/pipeline.ts";

type Labels = Record<string, string>;
type Sample = [labels: Labels, value: number];

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const line = (name: string, [labels, value]: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${pairs.join(",")}} ${value}`;
};

const gauge = (name: string, help: string, samples: Sample[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...samples.map((sample) => line(name, sample)), ""].join("\n");

const requirementLabels = ({ platform, ios, android, web, labels }: Requires): Labels => ({
  platform: platform ?? "",
  capabilities: [ios && "ios", android && "android", web && "web"].filter(Boolean).join(","),
  labels: [...(labels ?? [])].sort().join(","),
});

/** The metrics as Prometheus reads them: text format 0.0.4, seconds as the unit of time. */
export const toPrometheus = ({ orgId, builds, oldestWaitSeconds, agents, outbox, byRequirement }: Metrics): string => {
  const org = { org: orgId };
  const counted = (counts: Record<string, number>, label: string): Sample[] =>
    Object.entries(counts).map(([name, value]) => [{ ...org, [label]: name }, value]);
  const each = (of: (kind: Metrics["byRequirement"][number]) => number): Sample[] =>
    byRequirement.map((kind) => [{ ...org, ...requirementLabels(kind.requires) }, of(kind)]);
  return [
    gauge("millrace_builds", "Builds under way by status.", counted(builds, "status")),
    gauge("millrace_oldest_wait_seconds", "Wait of the build that waits longest.", [[org, oldestWaitSeconds]]),
    gauge("millrace_agents", "Agents by state; online ones are idle, busy or draining.", counted(agents, "state")),
    gauge("millrace_outbox", "What the database does not know yet, and what it refused.", counted(outbox, "kind")),
    gauge(
      "millrace_required_waiting",
      "Builds waiting for such an agent.",
      each((kind) => kind.waiting),
    ),
    gauge(
      "millrace_required_running",
      "Builds that such agents hold.",
      each((kind) => kind.running),
    ),
    gauge(
      "millrace_required_oldest_wait_seconds",
      "Longest wait for such an agent.",
      each((kind) => kind.oldestWaitSeconds),
    ),
    gauge(
      "millrace_required_agents",
      "Online agents that could take them.",
      each((kind) => kind.agents),
    ),
    gauge(
      "millrace_required_idle",
      "Those of them with nothing to do.",
      each((kind) => kind.idle),
    ),
  ].join("");
};
