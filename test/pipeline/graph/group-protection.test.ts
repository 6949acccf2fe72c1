import { describe, expect, it } from "vitest";
import { allowsRef, openGroups, requiredApproval, withGate } from "../../../src/pipeline/graph/group-protection.ts";
import type { GroupProtection } from "../../../src/protocol/group.ts";

const protectedBy = (more: Partial<GroupProtection>): GroupProtection => ({
  branches: null,
  tags: null,
  approval: null,
  ...more,
});
const attached = [
  { id: "1", name: "open", protection: null },
  { id: "2", name: "release", protection: protectedBy({ branches: ["main"], approval: "maintainer" }) },
  { id: "3", name: "store", protection: protectedBy({ approval: "admin" }) },
];
const approved = (role: "member" | "maintainer" | "admin") => ({ approved: true, role });

const ON_MAIN = { branch: "main", trust: "trusted" } as const;

describe("a protected group", () => {
  it.each([
    [{}, "refs/pull/7/head", true],
    [{ branches: ["main"] }, "main", true],
    [{ branches: ["main"] }, "main2", false],
    [{ branches: ["**", "!wip/**"] }, "wip/x", false],
    [{ branches: ["**"] }, "refs/tags/main", false],
    [{ branches: ["**"] }, "refs/pull/7/head", false],
    [{ tags: ["v*"] }, "refs/tags/v1", true],
    [{ tags: ["v*"] }, "v1", false],
    [{ tags: ["v*"] }, "refs/tags/x", false],
  ])("%j on %s: %s", (more, branch, isAllowed) => {
    expect(allowsRef(protectedBy(more), branch)).toBe(isAllowed);
  });

  it("is closed to a job that does not name it", () => {
    expect(openGroups(attached, { groups: [], branch: "main", decision: approved("admin"), trust: "trusted" })).toEqual(
      {
        groupIds: ["1"],
        refused: null,
      },
    );
  });

  it("is open only after a decision by its role", () => {
    const ask = (decision: { approved: boolean; role: "member" | "maintainer" | "admin" } | null, branch = "main") =>
      openGroups(attached, { groups: ["release"], branch, decision, trust: "trusted" }).refused;
    expect(ask(approved("maintainer"))).toBe(null);
    expect(ask(approved("admin"))).toBe(null);
    expect(ask(approved("member"))).toContain("must approve");
    expect(ask({ approved: false, role: "admin" })).toContain("must approve");
    expect(ask(null)).toContain("must approve");
    expect(ask(approved("admin"), "feature")).toContain("this branch or tag cannot use it");
  });

  it("that the pipeline no longer has does not count as an empty one", () => {
    expect(
      openGroups(attached, { groups: ["gone"], branch: "main", decision: null, trust: "trusted" }).refused,
    ).toContain("gone");
  });

  it("requires the highest role, and only on a ref that may have it", () => {
    expect(requiredApproval(attached, "main")).toBe("admin");
    expect(requiredApproval(attached.slice(0, 2), "main")).toBe("maintainer");
    expect(requiredApproval(attached.slice(0, 2), "feature")).toBe(null);
  });

  it("creates a gate, or raises the file's gate, and never lowers it", () => {
    const gate = { message: "Now?", by: "admin" as const, timeoutHours: 1, hostStatus: "pending" as const };
    const job = { groups: ["release"], gate: null } as never;
    expect(withGate(job, attached, ON_MAIN).gate).toMatchObject({ by: "maintainer", message: null, timeoutHours: 72 });
    expect(withGate({ groups: ["release"], gate } as never, attached, ON_MAIN).gate).toEqual(gate);
    expect(withGate({ groups: ["store"], gate: { ...gate, by: "member" } } as never, attached, ON_MAIN).gate).toEqual(
      gate,
    );
    expect(withGate(job, attached, { ...ON_MAIN, branch: "feature" }).gate).toBe(null);
  });

  it("is never for an untrusted build, whoever approves, and requires no approval", () => {
    const asking = { groups: ["release"], branch: "main", decision: approved("admin"), trust: "untrusted" } as const;
    expect(openGroups(attached, asking).refused).toContain("an untrusted build never gets it");
    const job = { groups: ["release"], gate: null } as never;
    expect(withGate(job, attached, { branch: "main", trust: "untrusted" }).gate).toBe(null);
  });
});
