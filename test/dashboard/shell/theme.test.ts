import { describe, expect, it } from "vitest";
import { cookieFor, ORIGIN, requestPage, sendForm } from "./page-requests.ts";

const choose = (theme: string, from?: string) =>
  sendForm("/theme", undefined, { Origin: ORIGIN, ...(from === undefined ? {} : { Referer: from }) }, { theme });

const chosen = (answer: Response): string => answer.headers.get("Set-Cookie")?.split(";")[0] ?? "";

describe("the theme switch", () => {
  it.each(["light", "dark"])("paints every page %s from the first byte, signed in or not", async (theme) => {
    const person = await cookieFor("viewer");
    const cookie = chosen(await choose(theme));
    for (const [path, cookies] of [
      ["/sign-in", cookie],
      ["/builds", `${person}; ${cookie}`],
      ["/nothing", `${person}; ${cookie}`],
    ] as const) {
      const text = await (await requestPage(path, { cookie: cookies })).text();
      expect(text, path).toContain(`<html lang="en" data-theme="${theme}">`);
      expect(text, path).toContain(`<meta name="color-scheme" content="${theme}"/>`);
    }
  });

  it("returns to its own page, and to no other site", async () => {
    const to = async (from?: string) => (await choose("dark", from)).headers.get("Location");
    expect(await to(`${ORIGIN}/app/variables?q=a`)).toBe("/app/variables?q=a");
    for (const elsewhere of [undefined, "nonsense", "https://evil.example/docs", `${ORIGIN}//evil.example`])
      expect(await to(elsewhere)).toBe("/app");
  });

  it("can follow the device again, and rejects unknown themes", async () => {
    for (const word of ["system", "", '"><script>', "dark;light"]) {
      const text = await (await requestPage("/sign-in", { cookie: chosen(await choose(word)) })).text();
      expect(text).toContain('<html lang="en">');
      expect(text).toContain('<meta name="color-scheme" content="light dark"/>');
    }
    const forged = await requestPage("/sign-in", { cookie: '__Host-millrace-theme=dark"><script>' });
    expect(await forged.text()).toContain('<html lang="en">');
  });
});
