import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const ZEROS = "0".repeat(40);

/** A commit as hosts list it in a push. */
export interface ListedCommit {
  id: string;
  message: string;
  author: { name: string; email: string };
  timestamp: string;
  added: string[];
  removed: string[];
  modified: string[];
}

/** The effect of a push on one ref. Zeros stand for no object, as hosts send them. */
export interface RefChange {
  ref: string;
  before: string;
  after: string;
  /** The commit of the ref. For an annotated tag it is another object than `after`. Null if the ref was deleted. */
  commit: string | null;
  isForced: boolean;
  /** Newest last. */
  commits: ListedCommit[];
}

/** A pull or merge request of a repository of the host. */
export interface HostedPull {
  number: number;
  base: string;
  branch: string;
  title: string;
  head: string;
  /** The repository with the branch. */
  from: BareRepository;
  isOpen: boolean;
  isMerged: boolean;
  updatedAt: Date;
}

/** A bare repository of the host, with the host's facts about it. */
export class BareRepository {
  readonly id: number;
  fullName: string;
  readonly defaultBranch: string = "main";
  readonly folder: string;
  readonly pulls: HostedPull[] = [];

  constructor(root: string, id: number, fullName: string) {
    this.id = id;
    this.fullName = fullName;
    this.folder = join(root, `${fullName}.git`);
    mkdirSync(this.folder, { recursive: true });
    this.git("init", "--quiet", "--bare", "--initial-branch=main");
    this.git("config", "http.receivepack", "true");
    this.git("config", "uploadpack.allowAnySHA1InWant", "true");
    this.git("config", "uploadpack.allowFilter", "true");
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.folder, encoding: "utf8" }).trimEnd();
  }

  /** Returns branches and tags with their objects. */
  refs(): Map<string, string> {
    const lines = this.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags").split("\n");
    return new Map(lines.filter(Boolean).map((line) => line.split(" ") as [string, string]));
  }

  /** Returns the changes since these were its refs. */
  changesSince(before: Map<string, string>): RefChange[] {
    const now = this.refs();
    const names = [...new Set([...before.keys(), ...now.keys()])].filter((ref) => before.get(ref) !== now.get(ref));
    return names.map((ref) => this.#change(ref, before.get(ref) ?? ZEROS, now.get(ref) ?? ZEROS));
  }

  #change(ref: string, before: string, after: string): RefChange {
    if (after === ZEROS) return { ref, before, after, commit: null, isForced: false, commits: [] };
    const commit = this.git("rev-parse", `${after}^{commit}`);
    if (ref.startsWith("refs/tags/") || before === ZEROS) {
      return { ref, before, after, commit, isForced: false, commits: [this.#listed(commit)] };
    }
    const isForced = this.git("merge-base", before, after) !== before;
    const ids = this.git("rev-list", "--reverse", `${before}..${after}`).split("\n").filter(Boolean);
    return { ref, before, after, commit, isForced, commits: ids.map((id) => this.#listed(id)) };
  }

  #listed(id: string): ListedCommit {
    const [name = "", email = "", timestamp = "", ...message] = this.git(
      "show",
      "--no-patch",
      "--format=%an%n%ae%n%aI%n%B",
      id,
    ).split("\n");
    const changes = this.git("diff-tree", "--no-commit-id", "--name-status", "-r", "--root", id).split("\n");
    const paths = (letter: string) =>
      changes.filter((line) => line.startsWith(letter)).map((line) => line.slice(2).trimStart());
    return {
      id,
      message: message.join("\n"),
      author: { name, email },
      timestamp,
      added: paths("A"),
      removed: paths("D"),
      modified: paths("M"),
    };
  }
}
