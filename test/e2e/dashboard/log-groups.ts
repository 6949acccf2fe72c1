import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { repositoryWith, runBuild, type Stage } from "./stage.ts";

const RUN = "window.__ran = 1";
const FILE = `steps:
  - name: prints groups
    run: |
      echo "before the groups"
      echo "::group::Install <img src=x onerror='${RUN}'>"
      seq -f "installed %.0f" 300
      echo "::endgroup::"
      echo "--- Test </button><script>${RUN}</script>"
      echo "tested"
      echo "::group::never ended"
      echo "the last word"
  - name: many groups
    run: seq -f "::group::small %.0f" 1 4000 | sed 's/$/\\nin it/'
  - name: after them
    run: echo "not in a group"
`;

export const logGroups = (stage: Stage) => {
  it("folds a step's groups under their titles, opens them for a search, and shows titles as text", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, FILE);
    const build = await runBuild(stage, repository.id);
    expect(await waitForEnd(client, build.id)).toMatchObject({ status: "succeeded" });
    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page.locator(".log[data-complete]").waitFor();
    await page.locator(".log-block .log-head", { hasText: "prints groups" }).click();
    await page.getByText("before the groups").waitFor();
    const install = page.getByRole("button", { name: "Install <img src=x" });
    expect(await install.getAttribute("aria-expanded")).toBe("false");
    expect(await install.textContent()).toContain("300 lines");
    const row = (text: string) => page.locator(".log-row", { hasText: text });
    await row("tested").waitFor();
    await row("the last word").waitFor();
    expect(await row("installed 7").count()).toBe(0);
    expect(await page.evaluate("window.__ran")).toBeUndefined();
    expect(await page.locator(".log-lines img, .log-lines script").count()).toBe(0);

    await install.click();
    await row("installed 7").first().waitFor();
    expect(await row("::endgroup::").count()).toBe(0);
    await install.press("Enter");
    await row("installed 7").first().waitFor({ state: "detached" });
    await page.getByLabel("Search the log").fill("installed 299");
    await row("installed 299").waitFor();

    await page.locator(".log-pin .log-head, .log-block .log-head", { hasText: "prints groups" }).first().click();
    const last = page.locator(".log-block .log-head", { hasText: "after them" });
    await last.waitFor();
    expect(await last.getAttribute("aria-expanded")).toBe("true");
    await row("not in a group").waitFor();
  });
};
