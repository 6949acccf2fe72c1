import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import type { Role } from "../../../src/protocol/token.ts";
import { newOrganization, newToken } from "../../support/api.ts";

export const ORIGIN = "https://millrace.test";
const NO_RECORD = "01900000-0000-7000-8000-000000000000";

/** Requests a page below `/app`. Replaces `:id` with an id that no record has. */
export const requestPage = (
  path: string,
  { cookie, ...init }: RequestInit & { cookie?: string; headers?: Record<string, string> } = {},
) =>
  exports.default.fetch(
    new Request(`${ORIGIN}/app${path === "/" ? "" : path.replace(":id", NO_RECORD)}`, {
      redirect: "manual",
      ...init,
      headers: { ...(cookie ? { Cookie: cookie } : {}), ...init.headers },
    }),
  );

/** Submits a form. */
export const sendForm = (path: string, cookie: string | undefined, headers: Record<string, string>, form = {}) =>
  requestPage(path, { cookie, method: "POST", headers, body: new URLSearchParams(form) });

/** Signs in and returns the `Set-Cookie` header. */
export const signIn = async (token: string) => {
  const answer = await sendForm("/sign-in", undefined, { Origin: ORIGIN }, { token });
  expect(answer.status).toBe(303);
  return answer.headers.get("Set-Cookie") ?? "";
};

/** Returns the session cookie for a new person with this role in a new organization. */
export const cookieFor = async (role: Role) => {
  const { admin } = await newOrganization();
  return (await signIn(await newToken(admin, role))).split(";")[0] as string;
};

/** A person who uses the pages. `to` is the address to which an accepted form redirects. */
export interface Person {
  open(path: string): Promise<{ status: number; text: string; headers: Headers }>;
  submit(
    path: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; text: string; to: string; headers: Headers }>;
}

/** Signs in with this token. */
export const personWith = async (token: string): Promise<Person> => {
  const cookie = (await signIn(token)).split(";")[0] ?? "";
  return {
    async open(path) {
      const answer = await requestPage(path, { cookie });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    async submit(path, form = {}) {
      const answer = await sendForm(path, cookie, { Origin: ORIGIN }, form);
      const { status, headers } = answer;
      return { status, headers, text: await answer.text(), to: headers.get("Location") ?? "" };
    },
  };
};
