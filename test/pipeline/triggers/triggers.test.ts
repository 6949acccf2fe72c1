import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import * as z from "zod";
import { mistakeSentence } from "../../../src/pipeline/mistake.ts";
import { parseFile, parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { PIPELINE_SCHEMA } from "../../../src/pipeline/parse/pipeline-file.ts";
import { parseTriggers } from "../../../src/pipeline/triggers/stored-triggers.ts";
import { DEFAULT_TRIGGERS } from "../../../src/pipeline/triggers/triggers.ts";
import { ons } from "../../githosts/support/arrivals.ts";

const STEPS = "steps: [{ run: make }]\n";

const mistakesOf = (file: string): string[] =>
  (parseTriggers(STEPS + file).mistakes ?? []).map((one) => `${one.line}:${one.column} ${mistakeSentence(one)}`);

describe("a file with triggers", () => {
  it("is read with all its keys", () => {
    const { value, mistakes } = parseTriggers(`
on:
  push: { branches: [main, 'release/**', '!release/old'], paths: ['**', '!docs/**'] }
  tag: { names: ['v*'] }
  pull: { base: [main], paths: [src/**], drafts: false, labels: [ready, 2] }
  merge-group: true
supersede: all
schedule:
  - { name: nightly, cron: 30 2 * * *, time-zone: Europe/Berlin, env: { TARGET: all, EMPTY: '', N: 1.10 } }
  - name: weekly
    cron: 0 0 * * MON
${STEPS}`);
    expect(mistakes).toBeUndefined();
    expect(value).toEqual({
      on: {
        push: { branches: ["main", "release/**", "!release/old"], paths: ["**", "!docs/**"] },
        tag: { names: ["v*"] },
        pull: { base: ["main"], paths: ["src/**"], drafts: false, labels: ["ready", "2"] },
        mergeGroup: true,
      },
      supersede: "all",
      schedule: [
        {
          ...{ name: "nightly", cron: "30 2 * * *", timeZone: "Europe/Berlin" },
          env: { TARGET: "all", EMPTY: "", N: "1.10" },
        },
        { name: "weekly", cron: "0 0 * * MON", timeZone: "UTC", env: {} },
      ],
    });
  });

  it("has defaults for omitted keys", () => {
    expect(parseTriggers(STEPS).value).toEqual(DEFAULT_TRIGGERS);
    expect(parseTriggers(`on: {}\n${STEPS}`).value?.on).toEqual({
      ...{ push: null, tag: null, pull: null, mergeGroup: false },
    });
    const every = parseTriggers(`on: { push: true, tag: true, pull: true, merge-group: true }\n${STEPS}`);
    expect(every.value?.on).toEqual({
      push: { branches: null, paths: null },
      tag: { names: null },
      pull: { base: null, paths: null, drafts: true, labels: null },
      mergeGroup: true,
    });
    expect(parseTriggers(`on: { push: {}, pull: {} }\n${STEPS}`).value?.on).toEqual({
      ...every.value?.on,
      ...{ tag: null, mergeGroup: false },
    });
  });

  it("can be written again with the same meaning", () => {
    const isPlain = (patterns: string[] | null | undefined) => !patterns?.[0]?.startsWith("!");
    const written = ons.filter(
      ({ push, tag, pull }) =>
        push?.branches !== "default" &&
        [push?.branches, push?.paths, tag?.names, pull?.base, pull?.paths].every(isPlain),
    );
    const only = (from: object): object =>
      Object.fromEntries(Object.entries(from).filter(([, value]) => value !== null));
    fc.assert(
      fc.property(written, (on) => {
        const { mergeGroup, ...events } = on;
        const each = Object.entries(only(events)).map(([key, value]) => [key, only(value)]);
        const file = { on: { ...Object.fromEntries(each), ...(mergeGroup ? { "merge-group": true } : {}) } };
        expect(parseTriggers(stringify({ ...file, steps: [{ run: "x" }] })).value?.on).toEqual(on);
      }),
    );
  });
});

describe("a mistake in a file's triggers", () => {
  it.each<[string, string[]]>([
    ["on: push\n", ["2:5 Write a mapping, for example `on: { push: true, pull: true }`"]],
    ["on: [push]\n", ["2:5 This must be a mapping, with `key: value` on each line"]],
    [
      "on: { push: false }\n",
      ["2:13 Write true, or conditions such as { branches: [main] }; leave the key out for none"],
    ],
    ["on: { pull_request: true }\n", ["2:7 `pull_request` is not a key of `on`. Write `pull`"]],
    ["on: { pusk: true }\n", ["2:7 `pusk` is not a key of `on`. Did you mean `push`?"]],
    [
      "on: { push: { tags: [v1] } }\n",
      ["2:15 `tags` is not a key of `push`. Tags have their own key: write `tag: { names: [...] }` below `on`"],
    ],
    [
      "on: { push: { paths-ignore: [docs] } }\n",
      [
        "2:15 `paths-ignore` is not a key of `push`. A pattern with ! only excludes: write '**', then '!' and the pattern",
      ],
    ],
    ["on: { push: { branches: main } }\n", ["2:25 This must be a list, with `- ` before each item"]],
    ["on: { push: { branches: [] } }\n", ["2:25 This must not be empty"]],
    [
      "on: { push: { branches: ['v[0-'] } }\n",
      [
        "2:26 The name of a branch or tag cannot have a space or any of [ ] \\ ^ ~ : in it. A pattern can have *, **, ? and classes such as [0-9] and [0-9]+",
      ],
    ],
    [
      "on: { push: { paths: ['!docs/**'] } }\n",
      ["2:23 A pattern with ! excludes matches of earlier ones: write '**' first"],
    ],
    [`on: { push: { paths: [${"a, ".repeat(101)}] } }\n`, ["2:22 This must have at most 100 items"]],
    [`on: { push: { paths: [${"a".repeat(251)}] } }\n`, ["2:23 A pattern must have at most 250 characters"]],
    ["on: { merge-group: false }\n", ["2:20 This must be one of: true"]],
    ["supersede: ref\n", ["2:12 This must be one of: refs, all, none. Did you mean `refs`?"]],
    ["schedule: { name: a }\n", ["2:11 This must be a list, with `- ` before each item"]],
    ["schedule: [{ name: a }]\n", ["2:12 The key `cron` is missing here"]],
    ["schedule: [{ name: a, cron: '* * * * *' }]\n", ["2:29 There must be at least 5 minutes between two runs"]],
    ["schedule: [{ name: a, cron: 0 0 30 2 * }]\n", ["2:29 This date never occurs: its months have fewer days"]],
    [
      "schedule: [{ name: a, cron: 0 0 * * *, time-zone: Mars/Base }]\n",
      ["2:51 Unknown time zone: write a name such as Europe/Berlin or UTC"],
    ],
    [
      "schedule: [{ name: a, cron: 0 0 * * * }, { name: a, cron: 0 1 * * * }]\n",
      ["2:50 Another schedule already has this name"],
    ],
    [
      "schedule: [{ name: a, cron: 0 0 * * *, env: { A: '${{ secrets.B }}' } }]\n",
      ["2:50 This is plain text: ${{ }} is not evaluated here"],
    ],
    [
      "schedule: [{ name: a, cron: 0 0 * * *, env: { MILLRACE_A: b } }]\n",
      ["2:47 The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_"],
    ],
    [
      "schedule: [{ name: a, cron: 0 0 * * *, env: { A: b, BASH_ENV: /tmp/x } }]\n",
      ["2:53 `BASH_ENV` could run code before a step does: set it in the steps' `env`"],
    ],
  ])("is reported with its place and advice: %s", (file, mistakes) => expect(mistakesOf(file)).toEqual(mistakes));

  it("is never reported with the file's text at that place", () => {
    const secret = fc.stringMatching(/^s3cret[a-z ]{0,9}$/);
    fc.assert(
      fc.property(secret, (text) => {
        const value = JSON.stringify(text);
        const file = `on: ${value}\nsupersede: ${value}\nschedule: [{ name: x, cron: ${value}, time-zone: ${value} }]\n`;
        expect(mistakesOf(file).length).toBeGreaterThan(2);
        expect(mistakesOf(file).join()).not.toContain("s3cret");
      }),
    );
  });

  it("is also reported if it is in the steps, so that a partly read file decides nothing", () => {
    expect(parseTriggers("on: { push: true }\nsteps: []\n").mistakes).toHaveLength(1);
  });
});

describe("an editor with the file's schema", () => {
  const editor = z.fromJSONSchema(PIPELINE_SCHEMA as Parameters<typeof z.fromJSONSchema>[0]);

  it.each([
    ["on: { push: true, pull: { base: [main], drafts: false } }", true],
    ["on: { push: { branches: [main, 1.0] }, merge-group: true }", true],
    ["schedule: [{ name: a, cron: 0 0 * * *, env: { A: 1, B: '' } }]", true],
    ["on: { push: false }", false],
    ["on: { push: { tags: [a] } }", false],
    ["on: { tag: { names: [] } }", false],
    ["on: { merge-group: false }", false],
    ["supersede: some", false],
    ["schedule: [{ cron: 0 0 * * * }]", false],
  ])("and the checker agree on %j: %s", (file, isGood) => {
    expect(editor.safeParse(parse(`${file}\n${STEPS}`)).success).toBe(isGood);
    expect(parseTriggers(`${file}\n${STEPS}`).value !== undefined).toBe(isGood);
    expect(parseFile(`${file}\n${STEPS}`).value !== undefined).toBe(isGood);
  });
});

describe("an agent", () => {
  const values = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom("${{ secrets.A }}", "x: *a", "\u0000"));

  it("ignores the triggers, so a newer word in them breaks no build", () => {
    const key = fc.constantFrom("on", "supersede", "schedule");
    fc.assert(
      fc.property(key, values, (name, value) => {
        if (value === null) return;
        const { plan, mistakes } = parsePlan(stringify({ [name]: value, steps: [{ run: "make" }] }));
        expect(mistakes).toBeUndefined();
        expect(plan?.job.steps).toHaveLength(1);
      }),
    );
    expect(parsePlan(`onn: 1\n${STEPS}`).mistakes).toHaveLength(1);
  });
});

describe("a file that nothing triggers", () => {
  it("gets a hint", () => {
    expect(parseFile(`on: {}\n${STEPS}`).hints).toMatchObject([{ line: 1, column: 5 }]);
    expect(parseFile(`on: { tag: true }\n${STEPS}`).hints).toEqual([]);
  });
});
