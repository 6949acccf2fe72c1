import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameMatcher } from "../../src/domain/patterns.ts";
import type { Effects, OpenPull, RefEvent } from "../../src/githosts/core/effect-facts.ts";
import { decideEffects, isSameBuild, MOST_BUILDS } from "../../src/githosts/core/effects.ts";
import * as arrived from "./support/arrivals.ts";
import { FILE, REPOSITORY, ZEROS } from "./support/arrivals.ts";

type Plan = typeof decideEffects;
type Law = (plan: Plan) => fc.IProperty<unknown[]>;

const pipelines = arrived.pipelinesOf(6);
const ids = (planned: Effects, purpose = "build"): string[] =>
  planned.builds.filter((one) => one.purpose === purpose).map((one) => one.pipelineId);

/** Returns the pull requests of trusted authors. */
const ofOthers = (pulls: OpenPull[]) => pulls.filter(({ author }) => author !== "renovate[bot]");

/** A fork, or a merge group that its queue dropped: its builds end whatever is superseded. */
const isGivenUp = (one: RefEvent): boolean =>
  one.kind === "pull" ? one.isFork : one.kind === "merge-group" && one.action === "gone";

const LAWS: Record<string, Law> = {
  "a push to a pull request's branch and the pull request's event trigger one build per pipeline": (plan) =>
    fc.property(arrived.pulls, pipelines, arrived.openPulls, (pull, pipelines, others) => {
      fc.pre(pull.ref !== "refs/heads/main" && !pull.ref.includes("queue"));
      const known = [...others.filter((one) => one.number !== pull.number), pull];
      const before = arrived.sha("9");
      const push = arrived.push(pull.ref.slice("refs/heads/".length), { sha: pull.sha, before, files: null });
      const pushed = plan(push, REPOSITORY, pipelines, known).builds;
      const asked = plan(arrived.pull("head", pull, { before }), REPOSITORY, pipelines, known).builds;
      const opened = plan(arrived.pull("opened", pull), REPOSITORY, pipelines, known).builds;
      for (const build of [...asked, ...opened]) {
        expect(pushed.filter((one) => isSameBuild(one, build))).toMatchObject([{ event: "pull", pull: build.pull }]);
      }
    }),

  "a tag is never built for its name as a branch": (plan) =>
    fc.property(arrived.tags, pipelines, arrived.openPulls, (tag, pipelines, pulls) => {
      const without = pipelines.map((one) => ({ ...one, on: { ...one.on, tag: null } }));
      expect(plan(tag, REPOSITORY, without, pulls).builds).toEqual([]);
      for (const build of plan(tag, REPOSITORY, pipelines, pulls).builds) {
        expect(build).toMatchObject({ event: "tag", ref: `refs/tags/${"tag" in tag ? tag.tag : ""}` });
      }
    }),

  "a push to the default branch that touches the file, or may have, is always planned": (plan) =>
    fc.property(arrived.pushes, pipelines, arrived.openPulls, (one, pipelines, pulls) => {
      const mayTouch =
        one.files === null || one.files.includes(FILE) || one.isForced || one.before === null || one.before === ZEROS;
      fc.pre(mayTouch);
      const planned = plan(
        { ...one, branch: "main", sender: "ada", pushers: [] },
        REPOSITORY,
        pipelines,
        ofOthers(pulls),
      );
      const all = [...ids(planned), ...ids(planned, "read-file")];
      const ofFile = pipelines.filter(({ file }) => file === FILE).map(({ id }) => id);
      expect(ofFile.filter((id) => !all.includes(id))).toEqual([]);
      if (one.hasSkipMarker) expect(ids(planned)).toEqual([]);
    }),

  "paths decide only when the list of files is complete": (plan) =>
    fc.property(arrived.pushes, pipelines, (one, pipelines) => {
      const anyPath = pipelines.map((each) => ({
        ...each,
        on: { ...each.on, push: each.on.push && { ...each.on.push, paths: null } },
      }));
      const isWhole = one.files !== null && !one.isForced && one.before !== null && one.before !== ZEROS;
      const wanted = ids(plan(one, REPOSITORY, anyPath, []));
      const planned = plan(one, REPOSITORY, pipelines, []);
      if (!isWhole) expect(ids(planned)).toEqual(wanted);
      const isTouched = (id: string) => {
        const paths = pipelines.find((each) => each.id === id)?.on.push?.paths;
        return !paths || (one.files ?? []).some(nameMatcher(paths));
      };
      if (isWhole) expect(ids(planned)).toEqual(wanted.filter(isTouched));
      for (const build of planned.builds) if (isWhole) expect(build.undecidedPaths).toBeNull();
    }),

  "with refs, no build of the default branch, tags or merge groups is ended": (plan) =>
    fc.property(arrived.arrivals, pipelines, arrived.openPulls, (one, pipelines, pulls) => {
      const ofRefs = pipelines.map((each) => ({ ...each, supersede: "refs" as const }));
      const planned = plan(one, REPOSITORY, ofRefs, pulls);
      fc.pre(!isGivenUp(one));
      const ended = [...planned.builds.filter((build) => build.supersedes), ...planned.ended];
      for (const { ref } of ended) expect(ref).not.toMatch(/^refs\/(tags\/|heads\/main$|heads\/gh-readonly-queue\/)/);
      for (const build of planned.builds)
        if (build.purpose === "build" && /feature|release/.test(build.ref) && build.event !== "tag")
          expect(build.supersedes).toBe(true);
    }),

  "with none, nothing is ended": (plan) =>
    fc.property(arrived.arrivals, pipelines, arrived.openPulls, (one, pipelines, pulls) => {
      fc.pre(!isGivenUp(one));
      const ofNone = pipelines.map((each) => ({ ...each, supersede: "none" as const }));
      const planned = plan(one, REPOSITORY, ofNone, pulls);
      expect([...planned.builds.filter((build) => build.supersedes), ...planned.ended]).toEqual([]);
    }),

  "a delivery triggers at most 500 builds, one per pipeline, and names omitted pipelines or the reason for none": (
    plan,
  ) =>
    fc.property(arrived.arrivals, arrived.manyPipelines, arrived.openPulls, (one, pipelines, pulls) => {
      const { builds, ignored, leftOut } = plan(one, REPOSITORY, pipelines, pulls);
      expect(builds.length).toBeLessThanOrEqual(MOST_BUILDS);
      if (leftOut.length > 0) expect(builds).toHaveLength(MOST_BUILDS);
      const each = pipelines.flatMap((pipeline) => plan(one, REPOSITORY, [pipeline], pulls).builds);
      expect([...builds, ...leftOut]).toEqual(each);
      expect(new Set(builds.map(({ pipelineId }) => pipelineId)).size).toBe(builds.length);
      expect(ignored === null).toBe(builds.length > 0);
    }),

  "code of a fork is never trusted, and runs after approval unless a member sent it and members need none": (plan) =>
    fc.property(arrived.pullArrivals, arrived.forks, pipelines, arrived.openPulls, (one, forks, pipelines, pulls) => {
      const { builds } = plan({ ...one, isFork: true }, { ...REPOSITORY, forks }, pipelines, pulls);
      for (const build of builds) {
        const needsApproval = forks === "approval" || !one.isByMember;
        expect(build).toMatchObject({ trust: "untrusted", needsApproval, purpose: "build", supersedes: true });
      }
    }),

  "code that a listed author pushed, or has a pull request for, is never trusted, and all other code is": (plan) =>
    fc.property(arrived.arrivals, arrived.forks, pipelines, arrived.openPulls, (one, forks, pipelines, pulls) => {
      fc.pre(one.kind !== "pull" || !one.isFork);
      const { builds } = plan(one, { ...REPOSITORY, forks }, pipelines, pulls);
      const asked = one.kind === "pull" ? [one.pull] : [];
      const isOfNumber = ({ number }: { number: number }) => asked.some((pull) => pull.number === number);
      const ofRef = (ref: string) => [...asked, ...pulls.filter((pull) => pull.ref === ref && !isOfNumber(pull))];
      for (const { ref, trust, purpose, needsApproval } of builds) {
        const others = one.kind === "tag" || one.kind === "merge-group" ? [] : ofRef(ref).map(({ author }) => author);
        const names = "sender" in one ? [one.sender, ...one.pushers, ...others] : others;
        const isListed = names.some((name) => name?.toLowerCase() === "renovate[bot]");
        expect([trust, needsApproval]).toEqual([isListed ? "untrusted" : "trusted", false]);
        if (isListed) expect(purpose).toBe("build");
      }
    }),

  "nothing of a fork is built, ended or remembered": (plan) =>
    fc.property(arrived.pullArrivals, pipelines, arrived.openPulls, (one, pipelines, pulls) => {
      const others = pulls.filter(({ number }) => number !== one.pull.number);
      const planned = plan({ ...one, isFork: true }, REPOSITORY, pipelines, others);
      expect(planned).toEqual({ builds: [], ended: [], openPull: null, ignored: "fork, off", leftOut: [] });
    }),

  "a pull request that was only edited triggers only missing builds": (plan) =>
    fc.property(arrived.pulls, arrived.pulls, pipelines, (was, is, pipelines) => {
      const now = { ...is, number: was.number, ref: was.ref, sha: was.sha };
      const before = ids(plan(arrived.pull("opened", was), REPOSITORY, pipelines, []));
      const after = ids(plan(arrived.pull("opened", now), REPOSITORY, pipelines, []));
      const edited = ids(plan(arrived.pull("edited", now), REPOSITORY, pipelines, [was]));
      expect(edited).toEqual(after.filter((id) => !before.includes(id)));
    }),
};

/** Wrong planners, each with the law that it breaks. */
const MUTANTS: Record<string, [law: RegExp, plan: Plan]> = {
  "a pull request has a ref of its own": [
    /one build per pipeline/,
    (one, ...rest) => {
      const planned = decideEffects(one, ...rest);
      if (one.kind !== "pull") return planned;
      return { ...planned, builds: planned.builds.map((build) => ({ ...build, ref: "refs/pull/7/head" })) };
    },
  ],
  "a push ignores pull requests": [
    /one build per pipeline/,
    (one, repository, pipelines, pulls) => decideEffects(one, repository, pipelines, one.kind === "push" ? [] : pulls),
  ],
  "a tag is a branch too": [
    /name as a branch/,
    (one, ...rest) => decideEffects(one.kind === "tag" ? arrived.push(one.tag) : one, ...rest),
  ],
  "the file is read only when the push matches": [
    /always planned/,
    (...all) => {
      const planned = decideEffects(...all);
      return { ...planned, builds: planned.builds.filter((build) => build.purpose === "build") };
    },
  ],
  "an incomplete list counts": [
    /is complete/,
    (one, ...rest) => decideEffects(one.kind === "push" ? { ...one, files: one.files ?? [] } : one, ...rest),
  ],
  "a forced push's list counts": [
    /is complete/,
    (one, ...rest) => decideEffects(one.kind === "push" ? { ...one, isForced: false } : one, ...rest),
  ],
  "another branch is the default one": [
    /with refs/,
    (one, repository, ...rest) => decideEffects(one, { ...repository, defaultBranch: "trunk" }, ...rest),
  ],
  "every choice is refs": [
    /with none/,
    (one, repository, pipelines, pulls) =>
      decideEffects(
        one,
        repository,
        pipelines.map((each) => ({ ...each, supersede: "refs" })),
        pulls,
      ),
  ],
  "each ten pipelines have their own limit": [
    /500 builds/,
    (one, repository, pipelines, pulls) => {
      const parts = Array.from({ length: 80 }, (_, index) => pipelines.slice(index * 10, index * 10 + 10));
      const all = parts.map((part) => decideEffects(one, repository, part, pulls));
      const builds = all.flatMap((each) => each.builds);
      return { ...all[0]!, builds, ignored: builds.length > 0 ? null : all[0]!.ignored };
    },
  ],
  "a fork belongs to the repository": [
    /nothing of a fork/,
    (one, ...rest) => decideEffects(one.kind === "pull" ? { ...one, isFork: false } : one, ...rest),
  ],
  "members are recognized by their names alone": [
    /unless a member/,
    (one, ...rest) => decideEffects(one.kind === "pull" ? { ...one, isByMember: true } : one, ...rest),
  ],
  "members are trusted": [
    /unless a member/,
    (one, repository, ...rest) => {
      const isOwn = one.kind === "pull" && one.isFork && one.isByMember && repository.forks === "members";
      return decideEffects(isOwn ? { ...one, isFork: false } : one, repository, ...rest);
    },
  ],
  "letter case counts in the name of a listed author": [
    /listed author/,
    (one, repository, pipelines, pulls) => {
      const isWritten = "sender" in one && one.sender === "Renovate[bot]";
      return decideEffects(isWritten ? { ...one, sender: "ada" } : one, repository, pipelines, pulls);
    },
  ],
  "only the pusher counts": [
    /listed author/,
    (one, repository, pipelines, pulls) => {
      const nobody = pulls.map((pull) => ({ ...pull, author: null }));
      return decideEffects(
        one.kind === "pull" ? { ...one, pull: { ...one.pull, author: null } } : one,
        repository,
        pipelines,
        nobody,
      );
    },
  ],
  "only the sender counts, not earlier pushers": [
    /listed author/,
    (one, ...rest) => decideEffects("pushers" in one ? { ...one, pushers: [] } : one, ...rest),
  ],
  "an edit is a new head": [
    /only edited/,
    (one, ...rest) =>
      decideEffects(one.kind === "pull" && one.action === "edited" ? { ...one, action: "head" } : one, ...rest),
  ],
};

describe("a plan", () => {
  it.each(Object.entries(LAWS))("keeps the law: %s", (_, law) => fc.assert(law(decideEffects), { numRuns: 1000 }));

  it.each(Object.entries(MUTANTS))("is tested so that a mutant fails: %s", (_, [name, mutant]) => {
    const laws = Object.entries(LAWS).filter(([title]) => name.test(title));
    expect(laws).toHaveLength(1);
    expect(fc.check(laws[0]![1](mutant), { numRuns: 3000, endOnFailure: true }).failed).toBe(true);
  });
});
