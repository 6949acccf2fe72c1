import { describe, expect, it } from "vitest";
import { parseFile, parsePlan } from "../../../src/pipeline/parse/parse.ts";

const told = (file: string): string[] =>
  (parsePlan(file).mistakes ?? []).map(({ line, column, message, suggestion }) =>
    [`${line}:${column} ${message}`, ...(suggestion === undefined ? [] : [`[${suggestion}]`])].join(" "),
  );

/** Files with several jobs and their mistakes: line, column, message and, in brackets, the suggestion. */
const WRONG: [file: string, mistakes: string[]][] = [
  ["jobs: { a: { needs: [b], steps: [{ run: x }] } }", ["1:22 There is no job `b`"]],
  ["jobs: { a: { needs: ['a secret, b'], steps: [{ run: x }] } }", ["1:22 There is no job with this name"]],
  [
    "jobs: { test: { steps: [{ run: x }] }, b: { needs: [tset], steps: [{ run: x }] } }",
    ["1:53 There is no job `tset` [test]"],
  ],
  ["jobs: { a: { needs: [a], steps: [{ run: x }] } }", ["1:22 A job cannot need itself"]],
  [
    "jobs: { a: { steps: [{ run: x }] }, b: { needs: [a, { job: a, optional: true }], steps: [{ run: x }] } }",
    ["1:60 This job is already in `needs`"],
  ],
  [
    "jobs: { a: { needs: [b], steps: [{ run: x }] }, b: { needs: [a], steps: [{ run: x }] } }",
    ["1:62 These jobs wait for each other: a, b, a"],
  ],
  [
    "jobs: { a: { needs: [b], steps: [{ run: x }] }, b: { needs: [c], steps: [{ run: x }] }, c: { needs: [a], steps: [{ run: x }] } }",
    ["1:102 These jobs wait for each other: a, b, c, a"],
  ],
  [
    "jobs: { s: { steps: [{ run: x }] }, a: { needs: [s, b], steps: [{ run: x }] }, b: { needs: [a], steps: [{ run: x }] } }",
    ["1:93 These jobs wait for each other: a, b, a"],
  ],
  [
    "jobs: { '': { steps: [{ run: x }] } }",
    ["1:9 A job's name must be letters, digits, _ and -, not beginning with a digit"],
  ],
  [
    "jobs: { __proto__: { steps: [{ run: x }] } }",
    ["1:9 A job's name must be letters, digits, _ and -, not beginning with a digit"],
  ],
  [
    "jobs: { 1a: { steps: [{ run: x }] } }",
    ["1:9 A job's name must be letters, digits, _ and -, not beginning with a digit"],
  ],
  [
    "jobs: { Test: { steps: [{ run: x }] }, test: { steps: [{ run: x }] } }",
    ["1:40 The job `Test` has the same name except for letter case"],
  ],
  [
    "jobs: { a: { needs: null, steps: [{ run: x }] } }",
    ["1:21 Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`"],
  ],
  [
    "jobs: { a: { needs: 3, steps: [{ run: x }] } }",
    ["1:21 Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`"],
  ],
  [
    "jobs: { a: { needs: { b: c }, steps: [{ run: x }] } }",
    ["1:21 Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`"],
  ],
  [
    "jobs: { a: { needs: a, steps: [{ run: x }] } }",
    ["1:21 Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`"],
  ],
  ["jobs: []", ["1:7 Write a mapping: the name of each job, and its keys below the name"]],
  ["jobs: {}", ["1:7 This must not be empty"]],
  ["jobs:", ["1:1 This key has no value"]],
  ["jobs: 3", ["1:7 Write a mapping: the name of each job, and its keys below the name"]],
  ["jobs: ~", ["1:7 Write a mapping: the name of each job, and its keys below the name"]],
  ["jobs: { a: {} }", ["1:12 A job needs `steps`, or a `gate` that a person opens"]],
  ["jobs: { a: { name: x } }", ["1:12 A job needs `steps`, or a `gate` that a person opens"]],
  ["jobs: { a: make }", ["1:12 A job is a mapping: write `steps` below its name"]],
  ["jobs: { a: [x] }", ["1:12 This must be a mapping, with `key: value` on each line"]],
  [
    "jobs: { a: { gate: { message: x }, requires: { ios: true }, env: { A: b }, matrix: { os: [a] } } }",
    ["1:9 A gate without steps needs no agent: it cannot have `requires`, `env`, `matrix`"],
  ],
  [
    "jobs: { a: { gate: true, steps: [{ run: x }] } }",
    ["1:20 Write a mapping, for example `gate: { message: Release? }`"],
  ],
  [
    "jobs: { a: { gate: { by: agent, timeout-hours: 721, host-status: red }, steps: [{ run: x }] } }",
    [
      "1:26 This must be one of: viewer, member, maintainer, admin",
      "1:48 This must be a whole number from 1 to 720",
      "1:66 This must be one of: success, pending",
    ],
  ],
  [
    "jobs: { a: { steps: [{ run: x }] } }\nsteps: [{ run: x }]",
    [
      "2:1 `steps` is not a key of a file with several jobs. A file has `steps` or `jobs`, not both: write these steps in a job",
    ],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { v: &v [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15], w: *v } }, b: { steps: [{ run: x }] } }",
    ["1:103 A build has at most 256 jobs: with this one it would have 257"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { a: [1], b: [1], c: [1], d: [1], e: [1], f: [1], g: [1], h: [1], i: [1] } } }",
    ["1:109 A matrix has at most 8 axes"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { include: [x] } } }",
    ["1:55 This must be a mapping, with `key: value` on each line"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { include: x } } }",
    ["1:54 This must be a list, with `- ` before each item"],
  ],
  ["jobs: { a: { steps: [{ run: x }], matrix: { os: [] } } }", ["1:49 This must not be empty"]],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: null } } }",
    ["1:49 This must be a list, with `- ` before each item"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [null] } } }",
    ["1:50 A matrix value must be text, true or false: write '' for an empty text"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [[a]] } } }",
    ["1:50 A matrix value must be text, true or false, not a list or a mapping"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [{ a: b }] } } }",
    ["1:50 A matrix value must be text, true or false, not a list or a mapping"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { __proto__: [a] } } }",
    ["1:45 The name of an axis must be letters, digits, _ and -, not beginning with a digit"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [a], exclude: [{ arch: x }] } } }",
    ["1:64 Only axes can be excluded, and one of these keys is not an axis"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [a], exclude: [{}] } } }",
    ["1:64 An item of `exclude` has no keys"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [a], exclude: [{ os: b }] } } }",
    ["1:64 No combination of the axes has these values"],
  ],
  ["jobs: { a: { steps: [{ run: x }], matrix: { os: [a], exclude: [{ os: a }] } } }", ["1:43 No combination is left"]],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [a], include: [{}] } } }",
    ["1:64 An item of `include` has no keys"],
  ],
  ["jobs: { a: { steps: [{ run: x }], matrix: {} } }", ["1:43 A matrix needs an axis, or `include`"]],
  [
    'jobs: { a: { steps: [{ run: x }], matrix: "${{ fromJSON(needs.b.outputs.x) }}" } }',
    ["1:43 A computed matrix is not supported yet: list its values"],
  ],
  [
    'jobs: { a: { steps: [{ run: x }], matrix: { os: "${{ fromJSON(needs.b.outputs.x) }}" } } }',
    ["1:49 A computed matrix is not supported yet: list its values"],
  ],
  [
    'jobs: { a: { steps: [{ run: x }], matrix: { os: ["${{ vars.X }}"] } } }',
    ["1:50 A computed matrix is not supported yet: list its values"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], matrix: { os: [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx] } } }",
    ["1:50 A matrix value must have at most 200 characters"],
  ],
  ['jobs: { a: { steps: [{ run: x }], matrix: { os: ["\\ud800"] } } }', ["1:50 A matrix value must be valid Unicode"]],
  [
    "jobs: { a: { steps: [{ run: x }], if: secrets.TOKEN == 'x' } }",
    ["1:39 Only steps read secrets: this is evaluated before an agent has the job"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: env.A == 'x' || A } }",
    [
      "1:39 There is no environment before an agent has the job: write `vars.NAME` for a variable that is not secret",
      "1:55 There is no environment before an agent has the job [vars.A]",
    ],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: steps.a.outcome == 'x' } }",
    ["1:39 This is evaluated before the first step runs"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: agent.platform == 'x' && job.status } }",
    ["1:39 This is evaluated before an agent has the job", "1:64 This is evaluated before the job begins"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: needs.b.result == 'x' } }",
    ["1:45 This job does not need a job with this name"],
  ],
  [
    "jobs: { b: { steps: [{ run: x }], outputs: { x: \"1\" } }, a: { needs: [b], steps: [{ run: x }], if: needs.b.reslt == 'x' && needs.b.outputs.y } }",
    ["1:108 A needed job has no such property [result]", "1:140 The needed job has no such output"],
  ],
  [
    "jobs: { b: { steps: [{ run: x }], matrix: { os: [a] } }, a: { needs: [b], if: needs.b.outputs.y, steps: [{ run: x }] } }",
    ["1:87 This job has a matrix: read `needs.b.jobs`, a list with the outputs of each"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: toJSON(vars) } }",
    ["1:46 Spell out the name of the variable, as in `vars.NAME`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: vars[matrix.os], matrix: { os: [a] } } }",
    ["1:43 The value ends before this: put quotes around the whole value"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: changed(vars.X) } }",
    ["1:39 Spell out the patterns: they are compared before the condition is evaluated"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], if: \"changed('!x')\" } }",
    ["1:48 A pattern with ! excludes matches of earlier ones: write '**' first"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], name: \"${{ success() }} ${{ changed('a') }} ${{ needs.b.result }}\" } }",
    [
      "1:46 This is evaluated when the build is planned, before any job has run: only `if` can use it",
      "1:63 This is evaluated when the build is planned, before any job has run: only `if` can use it",
      "1:83 This is evaluated when the build is planned, before any job has run: only `if` and the steps can read `needs`",
    ],
  ],
  ['jobs: { a: { steps: [{ run: x }], name: "${{ matrix.os }}" } }', ["1:53 This job has no matrix"]],
  [
    'jobs: { a: { steps: [{ run: x }], matrix: { os: [x] }, name: "${{ matrix.so }}" } }',
    ["1:74 The matrix of this job has no such key"],
  ],
  [
    'env: { A: "${{ matrix.os }}" }\njobs: { a: { steps: [{ run: x }], matrix: { os: [x] } } }',
    ["1:16 There is no context `matrix`. Only a job has a matrix: write `jobs`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], requires: [b] } }",
    ["1:45 `requires` is for the agent. The jobs to wait for are in `needs`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], requires: { platform: windows } } }",
    ["1:57 There is no agent for Windows: write macos or linux"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], requires: { platform: beos, ios: maybe, labels: ['a b'] } } }",
    [
      "1:57 This must be one of: macos, linux",
      "1:68 This must be true or false",
      "1:84 A label must be 1 to 100 of A-Z a-z 0-9 _ . : / = -",
    ],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], continue-on-error: sometimes } }",
    ["1:54 This must be true or false, or one ${{ }}"],
  ],
  [
    'jobs: { a: { steps: [{ run: x }], continue-on-error: "x ${{ true }}" } }',
    ["1:57 Text around ${{ }} is always true: put the whole condition inside, or leave out ${{ }}"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], max-parallel: 2 } }",
    ["1:9 `max-parallel` and `fail-fast` are for a job with a `matrix`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], concurrency: production } }",
    ["1:48 Write a mapping, for example `concurrency: { group: production }`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], concurrency: { group: a, cancel-in-progress: true } } }",
    [
      "1:60 `cancel-in-progress` is not a key of `concurrency`. Write `when-busy: cancel-running`, or leave it out to wait",
    ],
  ],
  [
    'jobs: { a: { steps: [{ run: x }], groups: ["${{ vars.X }}"] } }',
    ["1:44 The name of a variable group is plain text: ${{ }} is not evaluated here"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], outputs: { 1x: a, __proto__: b } } }",
    [
      "1:46 A name must be letters, digits, _ and -, not beginning with a digit",
      "1:53 A name must be letters, digits, _ and -, not beginning with a digit",
    ],
  ],
  [
    'jobs: { a: { steps: [{ run: x }], outputs: { x: "${{ steps.nope.outputs.y }}" } } }',
    ["1:60 There is no earlier step with this id"],
  ],
  ["jobs: { a: { steps: [{ run: x }], tools: x } }", ["1:42 This must be one of: auto"]],
  [
    "jobs: { a: { steps: [{ run: x }], include: x } }",
    [
      "1:35 `include` is not a key of a job. Write `- include: ./ci/FILE.yml` in a list of steps, with its `steps` in that file",
    ],
  ],
  ["jobs: { a: { steps: [{ run: x }], retry: x } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: 3 } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: -1 } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: 1.5 } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: ~ } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: { max: 2 } } }", ["1:42 This must be a whole number from 0 to 2"]],
  ["jobs: { a: { steps: [{ run: x }], retry: '${{ vars.N }}' } }", ["1:42 This must be a whole number from 0 to 2"]],
  [
    "jobs: { a: { steps: [{ run: x }], retries: 2 } }",
    ["1:35 `retries` is not a key of a job. Write `retry: 1` or `retry: 2`"],
  ],
  [
    "retry: 1\njobs: { a: { steps: [{ run: x }] } }",
    ["1:1 `retry` is not a key of a file with several jobs. Write it in the job that needs it"],
  ],
  [
    "jobs: { a: { gate: { message: x }, retry: 1 } }",
    ["1:9 A gate without steps needs no agent: it cannot have `retry`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], services: x } }",
    ["1:35 `services` is not a key of a job. This is not supported yet: start services in a step"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], inputs: x } }",
    [
      "1:35 `inputs` is not a key of a job. Write `with` where a file is included: inputs are those of an included file",
    ],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], id-token: x } }",
    ["1:35 `id-token` is not a key of a job. This is not supported yet"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], host-token: x } }",
    ["1:35 `host-token` is not a key of a job. This is not supported yet"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], cache: x } }",
    ["1:42 Write a list, for example `[{ name: npm, files: package-lock.json, path: ~/.npm }]`"],
  ],
  [
    "jobs: { a: { steps: [{ run: x }], reports: x } }",
    ["1:44 Write a mapping, for example `reports: { junit: build/reports/*.xml }`"],
  ],
  ["tools: x\nsteps: [{ run: x }]", ["1:8 This must be one of: auto"]],
  ["id-token: x\nsteps: [{ run: x }]", ["1:1 `id-token` is not a key of a pipeline file. This is not supported yet"]],
  [
    "host-token: x\nsteps: [{ run: x }]",
    ["1:1 `host-token` is not a key of a pipeline file. This is not supported yet"],
  ],
  [
    "downloads: x\nsteps: [{ run: x }]",
    ["1:1 `downloads` is not a key of a pipeline file. Write `jobs`: a job can download artifacts of earlier jobs"],
  ],
  [
    "cache: x\nsteps: [{ run: x }]",
    ["1:8 Write a list, for example `[{ name: npm, files: package-lock.json, path: ~/.npm }]`"],
  ],
  [
    "gate: x\nsteps: [{ run: x }]",
    ["1:1 `gate` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`"],
  ],
  [
    "concurrency: x\nsteps: [{ run: x }]",
    ["1:1 `concurrency` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`"],
  ],
  [
    "outputs: x\nsteps: [{ run: x }]",
    ["1:1 `outputs` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`"],
  ],
  [
    "matrix: x\nsteps: [{ run: x }]",
    ["1:1 `matrix` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`"],
  ],
  [
    "needs: x\nsteps: [{ run: x }]",
    ["1:1 `needs` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`"],
  ],
  [
    "groups: [a]\njobs: { a: { steps: [{ run: x }] } }",
    ["1:1 `groups` is not a key of a file with several jobs. Write it in the job that needs it"],
  ],
  [
    "jobs:\n  a: &a { steps: [{ run: x }] }\n  b: { <<: *a, needs: [a] }\n",
    [
      "3:6 A job needs `steps`, or a `gate` that a person opens",
      "3:8 `<<` does not merge mappings here: write the keys, or use an alias for the whole mapping",
    ],
  ],
  [
    "jobs: { z: { steps: [{ run: x }] }, a: { steps: [{ run: x }], needs: [z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z,z] } }",
    [
      "1:70 This must have at most 50 items",
      "1:73 This job is already in `needs`",
      "1:75 This job is already in `needs`",
      "1:77 This job is already in `needs`",
      "1:79 This job is already in `needs`",
      "1:81 This job is already in `needs`",
      "1:83 This job is already in `needs`",
      "1:85 This job is already in `needs`",
      "1:87 This job is already in `needs`",
      "1:89 This job is already in `needs`",
      "1:91 This job is already in `needs`",
      "1:93 This job is already in `needs`",
      "1:95 This job is already in `needs`",
      "1:97 This job is already in `needs`",
      "1:99 This job is already in `needs`",
      "1:101 This job is already in `needs`",
      "1:103 This job is already in `needs`",
      "1:105 This job is already in `needs`",
      "1:107 This job is already in `needs`",
      "1:109 This job is already in `needs`",
      "1:111 This job is already in `needs`",
      "1:113 This job is already in `needs`",
      "1:115 This job is already in `needs`",
      "1:117 This job is already in `needs`",
      "1:119 This job is already in `needs`",
      "1:121 This job is already in `needs`",
      "1:123 This job is already in `needs`",
      "1:125 This job is already in `needs`",
      "1:127 This job is already in `needs`",
      "1:129 This job is already in `needs`",
      "1:131 This job is already in `needs`",
      "1:133 This job is already in `needs`",
      "1:135 This job is already in `needs`",
      "1:137 This job is already in `needs`",
      "1:139 This job is already in `needs`",
      "1:141 This job is already in `needs`",
      "1:143 This job is already in `needs`",
      "1:145 This job is already in `needs`",
      "1:147 This job is already in `needs`",
      "1:149 This job is already in `needs`",
      "1:151 This job is already in `needs`",
      "1:153 This job is already in `needs`",
      "1:155 This job is already in `needs`",
      "1:157 This job is already in `needs`",
      "1:159 This job is already in `needs`",
      "1:161 This job is already in `needs`",
      "1:163 This job is already in `needs`",
      "1:165 This job is already in `needs`",
      "1:167 This job is already in `needs`",
      "1:169 This job is already in `needs`",
    ],
  ],
];

describe("a wrong file with several jobs", () => {
  it.each(WRONG)("gets every mistake reported: %j", (file, expected) => {
    expect(told(file)).toEqual(expected);
    expect(parseFile(file).mistakes?.length).toBe(expected.length);
  });
});

const STEPS = "steps: [{ run: x }]";
const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index).join(", ");
const jobs = (count: number, body: string): string =>
  Array.from({ length: count }, (_, index) => `j${index}: { ${body} }`).join(", ");
const steps = (count: number): string => `steps: [${Array(count).fill("{ run: x }").join(", ")}]`;

/** The most that each limit allows, and one more. */
const LIMITS: [what: string, most: string, over: string, message: string][] = [
  ["jobs of a file", `{ ${jobs(100, STEPS)} }`, `{ ${jobs(101, STEPS)} }`, "A file has at most 100 jobs"],
  [
    "needs",
    `{ ${jobs(50, STEPS)}, z: { needs: [${numbers(50).replaceAll(/\d+/g, "j$&")}], ${STEPS} } }`,
    `{ ${jobs(51, STEPS)}, z: { needs: [${numbers(51).replaceAll(/\d+/g, "j$&")}], ${STEPS} } }`,
    "This must have at most 50 items",
  ],
  [
    "combinations",
    `{ a: { ${STEPS}, matrix: { v: [${numbers(64)}], w: [1, 2, 3, 4] } } }`,
    `{ a: { ${STEPS}, matrix: { v: [${numbers(64)}], w: [1, 2, 3, 4], include: [{ v: 65 }] } } }`,
    "A build has at most 256 jobs: this matrix has 257 combinations",
  ],
  [
    "jobs of a build",
    `{ a: { ${STEPS}, matrix: { v: [${numbers(85)}], w: [1, 2, 3] } }, b: { ${STEPS} } }`,
    `{ a: { ${STEPS}, matrix: { v: [${numbers(85)}], w: [1, 2, 3] } }, b: { ${STEPS} }, c: { ${STEPS} } }`,
    "A build has at most 256 jobs: with this one it would have 257",
  ],
  [
    "values of an axis",
    `{ a: { ${STEPS}, matrix: { v: [${numbers(100)}] } } }`,
    `{ a: { ${STEPS}, matrix: { v: [${numbers(101)}] } } }`,
    "This must have at most 100 items",
  ],
  [
    "steps",
    `{ a: { ${steps(300)} }, b: { ${steps(200)} } }`,
    `{ a: { ${steps(300)} }, b: { ${steps(201)} } }`,
    "A file has at most 500 steps in all its jobs",
  ],
  ["gates", `{ ${jobs(20, "gate: {}")} }`, `{ ${jobs(21, "gate: {}")} }`, "A build has at most 20 gates"],
];

describe("the limits of jobs", () => {
  it.each(LIMITS)("reject one more than the limit: %s", (_, most, over, message) => {
    expect(told(`jobs: ${most}`)).toEqual([]);
    expect(told(`jobs: ${over}`)).toEqual([expect.stringContaining(message)]);
  });

  it("reject a million combinations before computing them", () => {
    const file = `jobs: { a: { ${STEPS}, matrix: { a: &v [${numbers(100)}], b: *v, c: *v } } }`;
    expect(told(file)).toEqual(["1:43 A build has at most 256 jobs: this matrix has far more combinations"]);
  });
});

describe("names in a file with several jobs", () => {
  it("may be those of Object.prototype", () => {
    const { plan } = parsePlan(`jobs: { constructor: { ${STEPS} }, toString: { needs: [constructor], ${STEPS} } }`);
    expect(plan?.jobs?.map(({ key, needs }) => [key, needs])).toEqual([
      ["constructor", []],
      ["toString", [{ job: "constructor", isOptional: false }]],
    ]);
  });

  it("are variables still in a file of steps", () => {
    expect(told("env: { A: '${{ matrix }}${{ needs }}' }\nsteps: [{ run: x, if: needs == 'x' }]")).toEqual([]);
  });

  it("may be unknown in a condition that is only true or false", () => {
    expect(parsePlan(`jobs: { a: { ${STEPS}, if: False } }`).plan?.jobs?.[0]?.if?.expression.text).toBe("false");
  });
});
