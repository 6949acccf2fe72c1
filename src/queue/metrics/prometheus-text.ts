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

/* Metrics in the Prometheus text format 0.0.4. */

export const gauge = metric("gauge");
/** A number that only grows; its name ends with `_total`. */
export const counter = metric("counter");
