import { beforeAll, describe, expect, it } from "vitest";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Schedule } from "../../../src/protocol/schedule.ts";
import { call, newOrganization, newPipeline, newRepository, newToken } from "../../support/api.ts";
import { type Person, personWith } from "../shell/page-requests.ts";

const FILE = `schedule:
  - { name: weekly, cron: "30 6 * * MON", time-zone: America/New_York }
steps:
  - run: "true"
`;

describe("the pages of schedules", () => {
  let token: string;
  let maintainer: Person;
  let viewer: Person;
  let pipeline: Pipeline;

  beforeAll(async () => {
    token = (await newOrganization()).admin;
    const repository = await newRepository(token);
    pipeline = await newPipeline(token, repository.id, { name: "ci", definition: FILE });
    maintainer = await personWith(await newToken(token, "maintainer"));
    viewer = await personWith(await newToken(token, "viewer"));
  });

  const nightly = {
    ...{ name: "nightly", cron: "0 2 * * MON-FRI", timeZone: "Europe/Berlin", ref: "" },
    ...{ envVariables: "TARGET=beta-value", isActive: "on" },
  };
  const find = async (name: string): Promise<Schedule> => {
    const all = (await call<Schedule[]>(token, "GET", "/schedule")).body;
    return all.find((one) => one.name === name) as Schedule;
  };

  it("say how to add the first schedule", async () => {
    const { text } = await (await personWith((await newOrganization()).admin)).open("/schedules");
    expect(text).toContain("No schedules yet.");
  });

  it("create a schedule for a maintainer, and show its next five runs in its time zone, but no values", async () => {
    const made = await maintainer.submit(`/pipelines/${pipeline.id}/schedules/new`, nightly);
    const schedule = await find("nightly");
    expect(made.to, made.text).toBe(`/app/schedules/${schedule.id}?done=created`);
    const { text } = await viewer.open(`/schedules/${schedule.id}`);
    expect(
      text.match(/<li><time[^>]*>[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2,3} \d{4}, 02:00 [^<]+<\/time><\/li>/g),
    ).toHaveLength(5);
    expect(text).toContain("TARGET");
    expect(text).not.toContain("beta-value");
    for (const word of [">Settings</h2>", "Delete schedule", "<textarea"]) expect(text).not.toContain(word);
    for (const path of ["/schedules", `/pipelines/${pipeline.id}`]) {
      expect((await viewer.open(path)).text).toContain(`href="/app/schedules/${schedule.id}"`);
    }
    expect((await viewer.open(`/pipelines/${pipeline.id}`)).text).not.toContain("Add schedule");
  });

  it("keep the stored variables unless new ones are entered, and delete them on request", async () => {
    const { id } = await find("nightly");
    const path = `/schedules/${id}`;
    expect((await maintainer.submit(path, { ...nightly, envVariables: "", name: "renamed" })).status).toBe(303);
    expect(await find("renamed")).toMatchObject({ id, envKeys: ["TARGET"] });
    await maintainer.submit(path, { ...nightly, envVariables: "", forgetsVariables: "on" });
    expect(await find("nightly")).toMatchObject({ id, envKeys: [] });
  });

  it("reject at its field a schedule that never runs, runs too often, or has an unknown time zone", async () => {
    const path = `/pipelines/${pipeline.id}/schedules/new`;
    for (const [field, value] of [
      ["cron", "0 0 31 2 *"],
      ["cron", "* * * * *"],
      ["cron", "0 0 2 * * *"],
      ["timeZone", "Europe/Atlantis"],
      ["ref", "-rf"],
    ]) {
      const refused = await maintainer.submit(path, { ...nightly, name: "wrong", [field as string]: value as string });
      expect([value, refused.status]).toEqual([value, 422]);
      expect(refused.text).toMatch(new RegExp(`id="${field}"[^>]* aria-invalid="true"`));
      expect(refused.text).not.toContain("beta-value");
    }
    const unreadable = await maintainer.submit(path, {
      ...nightly,
      name: "wrong",
      envVariables: "secret-without-name",
    });
    expect(unreadable.text).toContain("line 1 must have the form NAME=value");
    expect(unreadable.text).not.toContain("secret-without-name");
  });

  it("can only switch a schedule of a pipeline file on or off", async () => {
    const { id } = await find("weekly");
    const { text } = await maintainer.open(`/schedules/${id}`);
    expect(text).toContain("The pipeline file defines this schedule.");
    expect(text).not.toContain('name="cron"');
    expect((await maintainer.submit(`/schedules/${id}`, {})).to).toContain("done=saved");
    expect(await find("weekly")).toMatchObject({ isActive: false, cron: "30 6 * * MON" });
    expect((await maintainer.submit(`/schedules/${id}`, { isActive: "on" })).to).toContain("done=saved");
    expect((await maintainer.submit(`/schedules/${id}`, { ...nightly, name: "taken over" })).status).toBe(422);
    expect((await maintainer.submit(`/schedules/${id}/delete`)).status).toBe(422);
    expect(await find("weekly")).toMatchObject({ isActive: true, source: "file" });
  });

  it("delete a schedule after a confirmation", async () => {
    const { id } = await find("nightly");
    expect((await maintainer.open(`/schedules/${id}/delete`)).text).toContain("It starts no more builds.");
    expect((await viewer.submit(`/schedules/${id}/delete`)).status).toBe(403);
    expect((await maintainer.submit(`/schedules/${id}/delete`)).to).toBe(`/app/pipelines/${pipeline.id}?done=removed`);
    expect(await find("nightly")).toBeUndefined();
  });
});

describe("a pipeline's page", () => {
  it("shows the triggers with their source, and lets a maintainer override the file", async () => {
    const { admin } = await newOrganization();
    const person = await personWith(admin);
    const { id } = await newPipeline(admin, (await newRepository(admin)).id, {});
    const path = `/pipelines/${id}`;
    const before = (await person.open(path)).text;
    expect(before).toContain("Pushes to the default branch; pull requests.");
    expect(before).toContain("Defaults, until");
    expect(before).toContain("is not connected to a git host");
    const form = {
      ...{ decides: "record", push: "on", "on/push/branches": "main\r\nrelease/*\r\n", "on/push/paths": "" },
      ...{ tag: "on", "on/tag/names": "v*", supersede: "all" },
    };
    expect((await person.submit(`${path}/triggers`, form)).to).toBe(`/app${path}?done=saved`);
    const { body } = await call<Pipeline>(admin, "GET", `/pipeline/${id}`);
    expect(body).toMatchObject({ supersede: "all", triggers: { source: "record" } });
    expect(body.on).toEqual({ push: { branches: ["main", "release/*"] }, tag: { names: ["v*"] } });
    const after = (await person.open(path)).text;
    expect(after).toContain("Pushes to main, release/*; tags v*.");
    expect(after).toContain("Configured here. This overrides the file.");
    expect((await person.open(`${path}/triggers`)).text).toContain("main\nrelease/*");
    const wrong = await person.submit(`${path}/triggers`, { ...form, "on/push/branches": "!main" });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/id="on\/push\/branches"[^>]* aria-invalid="true"/);
    await person.submit(`${path}/triggers`, { decides: "file", supersede: "file" });
    expect((await call<Pipeline>(admin, "GET", `/pipeline/${id}`)).body).toMatchObject({ on: null, supersede: "file" });
  });

  it("creates a badge, shows its URL once, and revokes it", async () => {
    const { admin } = await newOrganization();
    const person = await personWith(admin);
    const { id } = await newPipeline(admin, (await newRepository(admin)).id, {});
    const made = await person.submit(`/pipelines/${id}/badge`);
    const [, address = ""] = /(https:\/\/millrace\.test\/badge\/mrb_[^<)]+\.svg)\)/.exec(made.text) ?? [];
    expect((await call(null, "GET", new URL(address).pathname)).status).toBe(200);
    expect((await person.open(`/pipelines/${id}`)).text).not.toContain("mrb_");
    const viewer = await personWith(await newToken(admin, "viewer"));
    expect((await viewer.open(`/pipelines/${id}`)).text).not.toContain("Create badge");
    expect((await viewer.submit(`/pipelines/${id}/badge`)).status).toBe(403);
    expect((await person.submit(`/pipelines/${id}/badge/revoke`)).to).toBe(`/app/pipelines/${id}?done=removed`);
    expect((await call(null, "GET", new URL(address).pathname)).status).toBe(404);
  });
});
