import { describe, expect, it } from "vitest";
import { newToken } from "../../support/api.ts";
import { newBuildWithArtifact } from "../../support/new-builds.ts";
import { personWith } from "../shell/page-requests.ts";

const FILES = { "html/index.html": "<h1>x</h1>", "html/data/a.json": "1", "<b>.txt": "y" };

describe("artifact pages", () => {
  it("link from the build to its files, folder by folder", async () => {
    const { admin, id } = await newBuildWithArtifact(FILES, "a b&c");
    const person = await personWith(await newToken(admin, "viewer"));
    expect((await person.open(`/builds/${id}`)).text).toContain(`href="/app/builds/${id}?tab=artifacts#parts"`);
    const build = await person.open(`/builds/${id}?tab=artifacts`);
    expect(build.text).toContain("<h2>Artifacts</h2>");
    expect(build.text).toContain(`href="/app/artifacts/${id}/a%20b%26c"`);
    const page = await person.open(`/artifacts/${id}/a%20b%26c`);
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).toContain("&lt;b&gt;.txt");
    expect(page.text).toContain("?folder=html");
    expect(page.text).not.toContain("index.html");
    for (const word of ["Create share link", "Delete artifact", "Open report"]) expect(page.text).not.toContain(word);
    const folder = await person.open(`/artifacts/${id}/a%20b%26c?folder=html`);
    expect(folder.text).toContain(`/app/artifacts/${id}/a%20b%26c/content/html/index.html`);
    expect(folder.text).not.toContain("&lt;b&gt;.txt");
    const file = await person.open(`/artifacts/${id}/a%20b%26c/content/html/index.html`);
    expect(file.text).toBe("<h1>x</h1>");
    expect(file.headers.get("Content-Disposition")).toContain("attachment");
    expect(file.headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
    const zip = await person.open(`/artifacts/${id}/a%20b%26c/zip?folder=html`);
    expect(zip.headers.get("Content-Type")).toBe("application/zip");
    expect((await person.open(`/artifacts/${id}/other`)).status).toBe(404);
  });

  it("let members share and delete the artifact", async () => {
    const { admin, id } = await newBuildWithArtifact(FILES);
    const viewer = await personWith(await newToken(admin, "viewer"));
    expect((await viewer.submit(`/artifacts/${id}/report/delete`)).status).toBe(403);
    const member = await personWith(await newToken(admin, "member"));
    const page = await member.open(`/artifacts/${id}/report`);
    for (const word of ["Create share link", "Delete artifact"]) expect(page.text).toContain(word);
    const wrong = await member.submit(`/artifacts/${id}/report/share`, { hours: "169", path: "" });
    expect(wrong).toMatchObject({ status: 422 });
    expect(wrong.text).toContain("must be 1 to 168");
    const shared = await member.submit(`/artifacts/${id}/report/share`, { hours: "1", path: "html" });
    expect(shared.text).toMatch(/https:\/\/millrace.test\/share\/mrx_/);
    expect((await member.submit(`/artifacts/${id}/report/delete`)).to).toBe("/app/builds?done=removed");
    expect((await member.open(`/artifacts/${id}/report`)).status).toBe(404);
    expect((await member.open(`/builds/${id}?tab=artifacts`)).text).not.toContain("<h2>Artifacts</h2>");
  });
});
