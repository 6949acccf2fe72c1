import { OutMap } from "./out.ts";

/* Where programs keep downloaded files, on Linux and on a Mac. Missing paths are skipped. */

interface Place {
  path: readonly string[];
  files: readonly string[];
  /** Whether files from an earlier lock file are useful too. */
  isGrowing?: boolean;
}

const PLACES = {
  npm: { path: ["~/.npm"], files: ["**/package-lock.json", "**/npm-shrinkwrap.json"] },
  yarn: { path: ["~/.cache/yarn", "~/.yarn/berry/cache", "~/Library/Caches/Yarn"], files: ["**/yarn.lock"] },
  pnpm: { path: ["~/.local/share/pnpm/store", "~/Library/pnpm/store"], files: ["**/pnpm-lock.yaml"] },
  bun: { path: ["~/.bun/install/cache"], files: ["**/bun.lock", "**/bun.lockb"] },
  deno: { path: ["~/.cache/deno", "~/Library/Caches/deno"], files: ["**/deno.lock"] },
  pip: { path: ["~/.cache/pip", "~/Library/Caches/pip"], files: ["**/requirements*.txt", "**/pyproject.toml"] },
  pipenv: { path: ["~/.local/share/virtualenvs"], files: ["**/Pipfile.lock"] },
  poetry: { path: ["~/.cache/pypoetry", "~/Library/Caches/pypoetry"], files: ["**/poetry.lock"] },
  uv: { path: ["~/.cache/uv"], files: ["**/uv.lock", "**/pyproject.toml", "**/*requirements*.txt"] },
  go: { path: ["~/go/pkg/mod", "~/.cache/go-build", "~/Library/Caches/go-build"], files: ["**/go.sum"] },
  gradle: {
    path: ["~/.gradle/caches", "~/.gradle/wrapper"],
    files: ["**/*.gradle*", "**/gradle-wrapper.properties", "**/*.versions.toml"],
    isGrowing: true,
  },
  maven: { path: ["~/.m2/repository"], files: ["**/pom.xml"], isGrowing: true },
  sbt: {
    path: ["~/.ivy2/cache", "~/.sbt", "~/.cache/coursier", "~/Library/Caches/Coursier"],
    files: ["**/*.sbt", "**/project/build.properties"],
    isGrowing: true,
  },
  nuget: { path: ["~/.nuget/packages"], files: ["**/packages.lock.json"] },
  bundler: { path: ["vendor/bundle"], files: ["**/Gemfile.lock", "**/gems.locked"] },
  composer: {
    path: ["~/.cache/composer", "~/Library/Caches/composer"],
    files: ["**/composer.lock", "**/composer.json"],
  },
  cargo: {
    path: ["~/.cargo/registry", "~/.cargo/git", "target"],
    files: ["**/Cargo.lock", "**/Cargo.toml"],
    isGrowing: true,
  },
} satisfies Record<string, Place>;

export type CacheName = keyof typeof PLACES;

export interface KnownCache {
  name: CacheName;
  /** Replaces the well-known paths. */
  path?: readonly string[];
  files?: readonly string[];
}

export const isCacheName = (name: string): name is CacheName => Object.hasOwn(PLACES, name);

/** Creates an entry of a job's `cache`. */
export const cacheEntry = ({ name, path, files }: KnownCache): OutMap => {
  const place: Place = PLACES[name];
  const own = path && path.length > 0 ? path : place.path;
  const entry = new OutMap().set("name", name).set("path", own.length === 1 ? own[0] : own);
  const from = files && files.length > 0 ? files : place.files;
  entry.set("files", from.length === 1 ? from[0] : from);
  return place.isGrowing ? entry.set("key", `${name}-`).set("fallback", [`${name}-`]) : entry;
};
