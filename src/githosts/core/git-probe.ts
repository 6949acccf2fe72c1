import { hostFetch } from "./host-fetch.ts";

/**
 * Whether git's own protocol finds a repository with this token. GitHub's answers 404 to tokens of the form of April
 * 2026 for some private repositories, while its API takes them: https://github.com/orgs/community/discussions/211387
 */
export const isHiddenFromGit = async (cloneUrl: string, token: string): Promise<boolean> => {
  const { origin, pathname } = new URL(cloneUrl);
  const answer = await hostFetch(origin, {
    method: "GET",
    path: `${pathname.replace(/\/$/, "")}/info/refs?service=git-upload-pack`,
    headers: { Accept: "*/*", Authorization: `Basic ${btoa(`x-access-token:${token}`)}` },
  });
  return "status" in answer && answer.status === 404;
};
