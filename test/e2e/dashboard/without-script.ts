import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Group } from "../../../src/protocol/group.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { signIn } from "../../support/browser.ts";
import { repositoryWith, runBuild, type Stage } from "./stage.ts";

export const withoutScript = (stage: Stage) => {
  it("shows every page and the log without a script, and accepts its forms", async () => {
    const { service, client } = stage;
    const repository = await repositoryWith(
      stage,
      'steps:\n  - name: speak\n    run: echo plain words; echo "# Told" >> "$MILLRACE_SUMMARY"\n',
    );
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    const build = await waitForEnd(client, (await runBuild(stage, repository.id)).id);
    const groups: Group[] = [];
    for (const name of ["one", "two"]) {
      groups.push(await client.call("POST", "/secrets/groups", { name: `${name} ${crypto.randomUUID()}` }));
    }
    const browser = await stage.chromium.open({ javaScriptEnabled: false });
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.goto(`${service.url}/app/builds`);
    await page.getByRole("link", { name: `#${build.number} ${repository.fullName}` }).click();
    await page.getByText("plain words").waitFor();
    await page.getByText("succeeded").first().waitFor();
    await page.getByRole("link", { name: "Summary" }).click();
    await page.locator("#summary").getByText("# Told").waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Build queued.").waitFor();

    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Delete log" }).click();
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByText("plain words").waitFor();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Delete log" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("The log of this build was deleted.").waitFor();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Delete build" }).click();
    await page.getByRole("heading", { name: `Delete #${build.number} in ${repository.fullName}?` }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Removed.").waitFor();
    await page.getByLabel("Repository").selectOption({ label: repository.fullName });
    await page.getByLabel("Agent").fill("one");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.locator("h1", { hasText: "Builds" }).waitFor();
    expect(new URL(page.url()).searchParams.get("agent")).toBe("one");
    expect(await page.locator(`#b-${build.id}`).count()).toBe(0);

    await page.goto(`${service.url}/app/pipelines/${pipeline.id}`);
    for (const { name } of groups) await page.getByRole("checkbox", { name }).check();
    await page.getByRole("button", { name: `Move ${groups[1]?.name} up` }).click();
    for (const { name } of groups) expect(await page.getByRole("checkbox", { name }).isChecked()).toBe(true);
    await page.getByRole("button", { name: "Save" }).last().click();
    await page.getByText("Saved.").waitFor();
    const saved = await client.call<Pipeline>("GET", `/pipeline/${pipeline.id}`);
    expect(saved.groupIds).toEqual([groups[1]?.id, groups[0]?.id]);
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
};
