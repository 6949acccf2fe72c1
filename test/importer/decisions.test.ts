import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { unmetRequirements } from "../../src/domain/requires.ts";
import { nextRuns } from "../../src/domain/schedule.ts";
import { endsOlder } from "../../src/githosts/core/effect-facts.ts";
import { wantsGroup, wantsPull, wantsPush, wantsTag } from "../../src/githosts/core/wants.ts";
import { expand } from "../../src/pipeline/graph/expand.ts";
import { parseFile, parsePlan } from "../../src/pipeline/parse/parse.ts";
import { PLATFORM_NAMES } from "../../src/protocol/pipeline.ts";
import { PAGES } from "./support/github-pages.ts";
import { fill } from "./support/github-words.ts";
import { deliveredImporter, translate } from "./support/importer.ts";

/*
 * Decisions before any step runs: which event starts a build, which builds it cancels, and which machine runs a job. A
 * model of GitHub decides for the workflow, and the service's own functions decide for the translation.
 */

const importer = await deliveredImporter();

const JOBS = "\njobs: { a: { runs-on: ubuntu-latest, steps: [{ run: make }] } }\n";

const triggersOf = async (workflow: string) => {
  const { value } = parseFile((await translate(importer, workflow)).text);
  return value!.triggers;
};

describe(`an event that starts a run (${PAGES.events})`, () => {
  const EVENTS = ["push", "pull_request", "merge_group", "tag"] as const;
  const startsHere = async (on: string): Promise<string[]> => {
    const { on: wanted } = await triggersOf(on + JOBS);
    const pull = { base: "main", isDraft: false, labels: [] } as never;
    const answers = {
      push: wantsPush(wanted, { branch: "main", isDefault: true, files: [] }),
      pull_request: wantsPull(wanted, pull, []),
      merge_group: wantsGroup(wanted),
      tag: wantsTag(wanted, "v1"),
    };
    return EVENTS.filter((event) => answers[event].isWanted);
  };
  const startsThere = (on: string): string[] => {
    const events = parse(on).on;
    const names = typeof events === "string" ? [events] : Array.isArray(events) ? events : Object.keys(events);
    return EVENTS.filter((event) => names.includes(event === "tag" ? "push" : event));
  };

  it.each([
    "on: push",
    "on: [push, pull_request]",
    "on: merge_group",
    "on: { merge_group: { types: [checks_requested] }, pull_request: }",
    "on: workflow_dispatch",
    "on: { workflow_dispatch: , push: }",
    "on: { release: { types: [published] } }",
  ])("starts a build of the translation: %s", async (on) => {
    expect(await startsHere(on)).toEqual(startsThere(on));
  });
});

describe(`a time that starts a run (${PAGES.events}#schedule)`, () => {
  const HOUR = 3_600_000;
  /** Reports whether a field of a cron line has a value. */
  const has = (field: string, value: number): boolean =>
    field.split(",").some((part) => {
      const [range = "", step = "1"] = part.split("/");
      const [from, to = from] = range === "*" ? [0, 99] : range.split("-").map(Number);
      return value >= from! && value <= to! && (value - from!) % Number(step) === 0;
    });
  const timesThere = (cron: string, from: number, until: number): number[] => {
    const [minute = "", hour = "", day = "", month = "", weekday = ""] = cron.split(" ");
    const times: number[] = [];
    for (let time = from; time < until; time += 60_000) {
      const date = new Date(time);
      const isDay = has(day, date.getUTCDate()) && has(month, date.getUTCMonth() + 1) && has(weekday, date.getUTCDay());
      if (isDay && has(hour, date.getUTCHours()) && has(minute, date.getUTCMinutes())) times.push(time);
    }
    return times;
  };

  it.each(["30 4 * * *", "*/20 3-5 * * 1", "0 0 1,15 * *"])("starts builds at the same times: %s", async (cron) => {
    const [schedule] = (await triggersOf(`on: { schedule: [{ cron: '${cron}' }] }${JOBS}`)).schedule;
    const from = Date.UTC(2026, 0, 1) - 1;
    const expected = timesThere(cron, from + 1, from + 800 * HOUR);
    expect(expected.length).toBeGreaterThan(1);
    expect(nextRuns(schedule as never, from, expected.length)).toEqual(expected);
  });
});

describe(`a run that cancels an older one (${PAGES.syntax}#concurrency)`, () => {
  const of = (event_name: string, ref: string, more: object) => ({
    github: {
      event_name,
      ref,
      ref_name: ref.replace(/^refs\/\w+\//, ""),
      workflow: "CI",
      head_ref: "",
      event: {},
      ...more,
    },
  });
  const own = (number: number) => ({ head_ref: "topic", event: { pull_request: { number } } });
  /** Two runs of one ref in succession, and the ref as this service names it. */
  const SUCCESSIONS: [ref: string, older: object, newer: object][] = [
    ["refs/heads/main", of("push", "refs/heads/main", { run_id: 1 }), of("push", "refs/heads/main", { run_id: 2 })],
    ["refs/heads/topic", of("push", "refs/heads/topic", { run_id: 1 }), of("push", "refs/heads/topic", { run_id: 2 })],
    ["refs/tags/v1", of("push", "refs/tags/v1", { run_id: 1 }), of("push", "refs/tags/v1", { run_id: 2 })],
  ];
  const PULL: (typeof SUCCESSIONS)[number] = [
    "refs/heads/topic",
    of("pull_request", "refs/pull/5/merge", { run_id: 1, ...own(5) }),
    of("pull_request", "refs/pull/5/merge", { run_id: 2, ...own(5) }),
  ];
  const both = [...SUCCESSIONS, PULL];

  it.each([
    ["on: [push, pull_request]", "", both],
    [
      "on: [push, pull_request]",
      "{ group: '${{ github.workflow }}-${{ github.ref }}', cancel-in-progress: true }",
      both,
    ],
    [
      "on: [push, pull_request]",
      "{ group: '${{ github.event.pull_request.number || github.ref }}', cancel-in-progress: true }",
      both,
    ],
    ["on: pull_request", "{ group: '${{ github.head_ref || github.run_id }}', cancel-in-progress: true }", [PULL]],
    ["on: push", "{ group: '${{ github.ref }}', cancel-in-progress: false }", SUCCESSIONS],
    ["on: push", "{ group: '${{ github.ref }}' }", SUCCESSIONS],
  ])("does so in the translation: %s, %s", async (on, concurrency, successions) => {
    const workflow = concurrency === "" ? on : `${on}\nconcurrency: ${concurrency}`;
    const { supersede } = await triggersOf(workflow + JOBS);
    const { group = "", "cancel-in-progress": cancels = false } = parse(concurrency) ?? {};
    for (const [ref, older, newer] of successions) {
      const isSame = fill(group, older) === fill(group, newer);
      expect([ref, endsOlder(supersede, ref, "main")]).toEqual([ref, cancels && isSame]);
    }
  });
});

describe(`the machine of a job (${PAGES.syntax}#jobsjob_idruns-on)`, () => {
  const platformOf = (name: string) => Number(Object.entries(PLATFORM_NAMES).find(([, one]) => one === name)![0]);
  const agent = (platform: string, labels: string[] = [], canBuildAndroid = false) => ({
    platform: platformOf(platform),
    labels,
    ...{ canBuildIOS: false, canBuildAndroid, canBuildWeb: false },
  });
  const AGENTS = {
    linux: agent("linux"),
    "linux with gpu": agent("linux", ["gpu"]),
    "linux with android": agent("linux", [], true),
    macos: agent("macos"),
    "macos with macos-26": agent("macos", ["macos-26"]),
  };

  it.each([
    ["ubuntu-latest", "", ["linux", "linux with gpu", "linux with android"]],
    ["macos-latest", "", ["macos", "macos with macos-26"]],
    ["[self-hosted, linux, gpu]", "", ["linux with gpu"]],
    ["macos-26", "", ["macos with macos-26"]],
    // The action installs Android's tools there. Here the agent must have them.
    ["ubuntu-latest", "{ uses: android-actions/setup-android@v3 },", ["linux with android"]],
  ])("has what runs-on: %s and %s need", async (label, step, able) => {
    const job = `on: push\njobs: { a: { runs-on: ${label}, steps: [${step} { run: make }] } }\n`;
    const { plan } = parsePlan((await translate(importer, job)).text);
    const { graph } = expand(plan!, {
      facts: { build: {}, repository: {}, vars: {}, changed: {} },
      ...{ hash: "", path: ".millrace.yml", commitSha: "", requires: {}, timeoutSeconds: 60, newId: () => "id" },
    });
    const { requires } = graph!.jobs[0]!;
    const found = Object.entries(AGENTS).filter(([, one]) => unmetRequirements(one, requires).length === 0);
    expect(found.map(([name]) => name)).toEqual(able);
  });
});
