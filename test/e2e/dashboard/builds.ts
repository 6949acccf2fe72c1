import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { makeGate, repositoryWith, runBuild, type Stage } from "./stage.ts";

/** Starts a build that waits until the test calls `go`. */
const startPausing = async (stage: Stage) => {
  const gate = makeGate(stage);
  const repository = await repositoryWith(
    stage,
    `steps:
  - name: first
    run: echo "the first line"
  - name: waits
    run: |
      echo "the step waits"
      until [ -e "${gate}" ]; do sleep 0.05; done
      printf '\\033[32mgreen\\033[0m after the gate\\n'
`,
  );
  return { build: await runBuild(stage, repository.id), repository, go: () => writeFileSync(gate, "") };
};

export const builds = (stage: Stage) => {
  it("shows a running build and its log while it grows", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const { build, repository, go } = await startPausing(stage);
    await page.goto(`${service.url}/app/builds`);
    const row = page.locator(`#b-${build.id}`);
    await row.getByText("running").first().waitFor();
    await row.getByRole("link", { name: repository.fullName }).click();
    await page.getByText("the step waits").waitFor();
    expect(await page.getByText("after the gate").count()).toBe(0);
    const before = await page.locator(".log").boundingBox();
    go();
    await page.getByText("after the gate").waitFor();
    expect(await page.locator(".log-text .ansi-green").textContent()).toBe("green");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    const after = await page.locator(".log").boundingBox();
    expect([after?.y, after?.height]).toEqual([before?.y, before?.height]);
    expect(await waitForEnd(client, build.id)).toMatchObject({ status: "succeeded" });
  });

  it("keeps an open step open when it ends, and its lines in place", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const step = (name: string, gate: string) =>
      `  - name: ${name}\n    run: seq -f "${name} %.0f." 300; until [ -e "${gate}" ]; do sleep 0.05; done\n`;
    const [one, two] = [makeGate(stage), makeGate(stage)];
    const repository = await repositoryWith(stage, `steps:\n${step("First", one)}${step("Second", two)}`);
    const build = await runBuild(stage, repository.id);
    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page.getByText("First 300.").waitFor();
    await page.locator('#step-0[data-state="running"]').waitFor();
    await page.locator(".log-row", { hasText: "First 290." }).hover();
    // The page listens before the wheel turns. Otherwise it could miss the end of a short scroll.
    const scrolled = await page.locator(".log-lines").evaluateHandle((box) => {
      const from = box.scrollTop;
      return {
        up: new Promise<void>((done) => box.addEventListener("scrollend", () => box.scrollTop < from && done())),
      };
    });
    await page.mouse.wheel(0, -1500);
    const read = page.locator(".log-row", { hasText: "First 217." });
    await read.waitFor();
    await page.locator('[data-key="f"][aria-pressed="false"]').waitFor();
    await scrolled.evaluate(({ up }) => up);
    const before = await read.boundingBox();
    writeFileSync(one, "");
    await page.locator('#step-0[data-state="succeeded"]').waitFor();
    await page.locator('#step-1[data-state="running"]').waitFor();
    expect(await read.boundingBox()).toEqual(before);
    writeFileSync(two, "");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await read.boundingBox()).toEqual(before);
    for (const head of await page.locator(".log-block .log-head").all()) {
      expect(await head.getAttribute("aria-expanded")).toBe("true");
    }
    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page.locator('.log-block .log-head[aria-expanded="false"]').nth(1).waitFor();
    expect(await waitForEnd(client, build.id)).toMatchObject({ status: "succeeded" });
  });

  it("explains why a build waits, and cancels the build ahead of it", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const first = await startPausing(stage);
    const second = await runBuild(stage, first.repository.id);
    await page.goto(`${service.url}/app/builds/${second.id}`);
    await page.getByText("one is busy with another build.").waitFor();
    await page.goto(`${service.url}/app/builds/${first.build.id}`);
    await page.getByText("the step waits").waitFor();
    await page.keyboard.press("c");
    await page.getByText(`Cancel #${first.build.number} in ${first.repository.fullName}?`).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#cancel").waitFor({ state: "hidden" });
    expect(await client.call("GET", `/build/${first.build.id}`)).toMatchObject({ status: "running" });
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "Cancel build" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Canceling the build.").waitFor();
    expect(page.url()).toBe(`${service.url}/app/builds/${first.build.id}`);
    await page.locator(".facts").getByText("canceled").waitFor();
    await page.getByText("Canceling the build.").waitFor({ state: "detached" });
    expect(await waitForEnd(client, first.build.id)).toMatchObject({ status: "canceled" });
    first.go();
    await page.goto(`${service.url}/app/builds/${second.id}`);
    await page.locator(".facts").getByText("succeeded").waitFor();
  });
};
