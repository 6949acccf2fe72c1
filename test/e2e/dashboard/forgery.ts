import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { Group } from "../../../src/protocol/group.ts";
import type { Stage } from "./stage.ts";

/** Serves a page from another origin on the same host. Browsers send strict cookies with its requests too. */
const otherSite = async (html: string) => {
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
};

export const forgery = (stage: Stage) => {
  const names = async () => (await stage.client.call<Group[]>("GET", "/secrets/groups")).map(({ name }) => name);

  it("rejects changes from another origin", async () => {
    const { service, browser } = stage;
    const [cookie] = await browser.context.cookies(service.url);
    const send = (headers: Record<string, string>) =>
      fetch(`${service.url}/app/groups`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ name: "forged" }),
        headers: { Cookie: `${cookie?.name}=${cookie?.value}`, ...headers },
      });
    const wrong = [
      {},
      { Origin: "null" },
      { Origin: "https://evil.example" },
      { Origin: `${service.url}.evil.example` },
      { Origin: service.url.replace(/\d+$/, "1") },
      { Origin: service.url, "Sec-Fetch-Site": "same-site" },
      { Origin: service.url, "Sec-Fetch-Site": "cross-site" },
      { Referer: `${service.url}/app/groups` },
    ];
    for (const headers of wrong) expect((await send(headers as Record<string, string>)).status).toBe(403);
    expect(await names()).not.toContain("forged");
    expect((await send({ Origin: service.url })).status).toBe(303);
    expect(await names()).toContain("forged");
  });

  it("rejects a form that another page of the host sends", async () => {
    const { service, browser } = stage;
    const site = await otherSite(`<form method="post" action="${service.url}/app/groups">
      <input name="name" value="forged-by-form"></form><button onclick="document.forms[0].submit()">go</button>`);
    const page = await browser.context.newPage();
    await page.goto(site.url);
    await page.getByRole("button", { name: "go" }).click();
    await page.getByText("This request came from another site").waitFor();
    expect(await names()).not.toContain("forged-by-form");
    await page.close();
    site.close();
    browser.complaints.splice(0);
  });
};
