import { PAGES } from "../github-pages.ts";
import { type Construct, job, show } from "./construct.ts";

const DEPLOY = [
  job("test", [show("test")]),
  job("deploy", [show("deploy")], ["needs: test", "environment: { name: production }"]),
  job("after-deploy", [show("${{ needs.deploy.result }}")], ["needs: [deploy]"]),
].join("\n");

export const APPROVED: Record<string, Construct> = {
  "an environment that is approved": { page: PAGES.environments, jobs: DEPLOY },
};

export const REJECTED: Record<string, Construct> = {
  "an environment that is rejected": {
    page: PAGES.environments,
    jobs: DEPLOY,
    left: { test: ["> test"], deploy: [], "after-deploy": [] },
  },
};
