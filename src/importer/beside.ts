/** Reads a file of the workflow's repository by its path from the root; undefined for an unreadable file. */
export type Beside = (path: string) => string | undefined;

const lineIn = (text: string | undefined): string | undefined => {
  const line = text?.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trim().startsWith("#"));
  return line?.trim();
};

const jsonIn = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
};

/** Returns a text deep in a JSON value. */
const textAt = (value: unknown, ...path: string[]): string | undefined => {
  let found = value;
  for (const key of path)
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined;
  return typeof found === "string" ? found : undefined;
};

/** Returns the Node version in a package's `devEngines`. */
const devRuntime = (json: unknown): string | undefined => {
  if (typeof json !== "object" || json === null || !("devEngines" in json)) return undefined;
  const { runtime } = Object(json.devEngines);
  const found = [runtime].flat().find((one) => textAt(one, "name") === "node");
  return textAt(found, "version");
};

/** Returns a tool's version from `.tool-versions`: the first one, if the line has several. */
const inToolVersions = (text: string | undefined, ...names: string[]): string | undefined =>
  text
    ?.split(/\r?\n/)
    .map((line) => line.split("#", 1).join("").trim().split(/\s+/))
    .find(([name = ""]) => names.includes(name))?.[1];

/** Returns the version in a `go.mod`: `toolchain` if present, else `go`. The newer one builds the module. */
const goMod = (text: string | undefined): string | undefined =>
  /^toolchain\s+go(\S+)/m.exec(text ?? "")?.[1] ?? /^go\s+(\d\S*)/m.exec(text ?? "")?.[1];

/** Returns the version in a `global.json`, from `version` and `rollForward`. */
const globalJson = (text: string | undefined): string | undefined => {
  const json = jsonIn(text);
  const version = textAt(json, "sdk", "version");
  const [major, minor] = version?.split(".") ?? [];
  switch (textAt(json, "sdk", "rollForward")?.toLowerCase()) {
    case undefined:
    case "disable":
      return version;
    case "latestfeature":
      return minor === undefined ? undefined : `${major}.${minor}`;
    case "latestminor":
      return major;
    default:
      return undefined;
  }
};

/** Returns the version in a file, in the words of the set-up action; undefined for an unreadable file. */
export const versionInFile = (tool: string, path: string, beside: Beside): string | undefined => {
  const text = beside(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === ".tool-versions")
    return inToolVersions(text, tool, ...(tool === "node" ? ["nodejs"] : []), ...(tool === "go" ? ["golang"] : []));
  switch (`${tool} ${name}`) {
    case "node package.json": {
      const json = jsonIn(text);
      return textAt(json, "volta", "node") ?? devRuntime(json) ?? textAt(json, "engines", "node");
    }
    case "bun package.json":
      return /^bun@([^+]+)/.exec(textAt(jsonIn(text), "packageManager") ?? "")?.[1];
    case "pnpm package.json":
      return /^pnpm@([^+]+)/.exec(textAt(jsonIn(text), "packageManager") ?? "")?.[1];
    case "go go.mod":
    case "go go.work":
      return goMod(text);
    case "dotnet global.json":
      return globalJson(text);
    case "ruby .ruby-version":
      return lineIn(text)?.replace(/^ruby-(?=\d)/, "");
    case "java .java-version":
      return lineIn(text);
    case "flutter .fvmrc":
      return textAt(jsonIn(text), "flutter");
    case "node .nvmrc":
    case "node .node-version":
    case "python .python-version":
    case "go .go-version":
    case "bun .bun-version":
    case "terraform .terraform-version":
      return lineIn(text);
    default:
      return undefined;
  }
};
