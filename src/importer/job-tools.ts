import { KNOWS } from "./actions.ts";
import type { StepOfCalls } from "./composite.ts";
import { type Marks, NoEqual } from "./marks.ts";
import { Comment, OutMap } from "./out.ts";
import type { SetUpTool } from "./set-up.ts";
import { find, tokenText } from "./source.ts";

/** Returns the variables' values that stay constant. A script that names a variable and `GITHUB_ENV` may change it. */
export const stableTexts = (texts: ReadonlyMap<string, string>, steps: readonly StepOfCalls[]): Map<string, string> => {
  const stable = new Map(texts);
  for (const { step, source } of steps) {
    const token = find(step.token, "run");
    const script = token ? tokenText(token, source) : "";
    if (script.includes("GITHUB_ENV")) for (const name of texts.keys()) if (script.includes(name)) stable.delete(name);
  }
  return stable;
};

/** The tools of one job. */
export class JobTools {
  readonly #tools = new Map<string, SetUpTool>();

  /** @throws {NoEqual} for a tool that the job has in another version */
  add(tools: readonly SetUpTool[]): void {
    for (const { name, version } of tools) {
      const other = this.#tools.get(name);
      if (other && other.version !== version) throw new NoEqual(`a second version of ${name}`, "tool");
    }
    for (const tool of tools) this.#tools.set(tool.name, tool);
  }

  /**
   * Writes `tools`. `tools: auto` stands alone and reads all versions. Beside other tools, the versions are written
   * out.
   */
  writeTo(
    job: OutMap,
    { marks, withdrawn }: { marks: Marks; withdrawn: ReadonlyMap<string, string> },
    jobUnit: string,
    line: number,
  ): void {
    const all = [...this.#tools.values()];
    if (all.length === 0) return;
    const isAuto = all.every(({ version }) => version === undefined);
    const words = all.map(({ name, version, read }) => `${name}: ${version ?? read ?? "auto"}`).join(", ");
    const unit = `${jobUnit}.tools`;
    const refused = withdrawn.get(unit);
    const tools = new OutMap();
    for (const { name, version, read } of all) tools.set(name, version ?? read);
    if (!KNOWS.tools) job.say(marks.add("tools-later", `tools: { ${words} }`, line));
    else if (refused !== undefined) job.say(marks.add("refused", `tools: { ${words} } (${refused})`, line));
    else if (isAuto) job.set("tools", "auto", unit);
    else if (tools.items.length < all.length)
      job.say(marks.add("tool", `\`tools: auto\` with other tools: { ${words} }`, line));
    else {
      for (const { name, version, read, file } of all)
        if (file !== undefined) job.say(new Comment([`${name} ${version ?? read} comes from ${file}: change both.`]));
      job.set("tools", tools, unit);
    }
  }
}
