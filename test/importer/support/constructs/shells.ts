import { PAGES } from "../github-pages.ts";
import { type Construct, job, show } from "./construct.ts";

export const SHELLS: Record<string, Construct> = {
  "a pipe without a shell": { page: PAGES.syntax, jobs: job("pipe", [`false | ${show("on")}\n${show("after")}`]) },
  "a pipe in bash": {
    page: PAGES.syntax,
    jobs: job("pipefail", [`- shell: bash\nrun: |\n  false | ${show("on")}\n  ${show("after")}`]),
  },
  "bash of its own": {
    page: PAGES.syntax,
    jobs: job("own-bash", [
      `- shell: bash {0}\nrun: |\n  false\n  ${show("after")}`,
      `- shell: bash -eu {0}\nrun: |\n  ${show("$NOT_THERE")}`,
    ]),
  },
  sh: {
    page: PAGES.syntax,
    jobs: job("sh", [`- shell: sh\nrun: |\n  ${show("$0")}\n  false\n  ${show("never")}`.replace("$0", "sh")]),
  },
  python: { page: PAGES.syntax, jobs: job("python", ['- shell: python\nrun: |\n  print("> python")']) },
  "a shell of the job's defaults": {
    page: PAGES.syntax,
    jobs: job("default-shell", [`false | ${show("on")}`, show("never")], ["defaults: { run: { shell: bash } }"]),
  },
  "a shell that is not here": {
    page: PAGES.syntax,
    jobs: job("perl", [show("before"), '- shell: perl {0}\nrun: print "> perl\\n";', show("after")]),
    left: { perl: ["> before"] },
  },
};
