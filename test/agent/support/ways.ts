import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { startGitServer } from "../../support/local/git-server.ts";
import type { TestRepository } from "./repository.ts";

/** Ways to a repository: git's protocol, HTTP, HTTP from a host too old to serve commits by hash, and plain files. */
export const WAYS = {
  file: async ({ cloneUrl }: TestRepository) => cloneUrl,
  http: (repository: TestRepository) => served(repository, false),
  "http of an old host": (repository: TestRepository) => served(repository, true),
  "plain files": async (repository: TestRepository) => {
    repository.git("update-server-info");
    const server = createServer(({ url = "" }, response) => {
      try {
        response.end(readFileSync(join(repository.folder, ".git", url.replace(/^\/mill.git|\?.*/g, ""))));
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mill.git`;
  },
};

const served = async ({ folder }: TestRepository, isOld: boolean): Promise<string> => {
  const server = await startGitServer(dirname(dirname(folder)), "miller", "pw", isOld);
  onTestFinished(() => server.close());
  return `${server.url}/${basename(dirname(folder))}/mill.git`;
};
