import { expect, it } from "vitest";
import { offerSignIn } from "../../../src/local/access.ts";
import type { Stage } from "./stage.ts";

export const signInLink = (stage: Stage) => {
  it("signs in only the first caller of the local link", async () => {
    const { service, client } = stage;
    const link = await offerSignIn({ url: service.url, orgId: "acme", token: client.token });
    expect(new URL(link.url).hostname).toBe("127.0.0.1");
    expect(link.url).not.toContain(client.token);
    expect((await fetch(`${link.url}x`)).status).toBe(410);
    const browser = await stage.chromium.open();
    expect((await browser.page.goto(link.url))?.url()).toBe(`${service.url}/app`);
    expect((await fetch(link.url)).status).toBe(410);
    await browser.page.goto(`${service.url}/app/agents`);
    expect(browser.page.url()).toBe(`${service.url}/app/agents`);
    await browser.close();
    link.close();
  });
};
