/** What finds the machine's tools, says its language, and reaches its network. None of them is a secret by its meaning. */
const KEPT = new RegExp(
  `^(?:${[
    "PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ",
    "ANDROID_(?:HOME|SDK_ROOT|NDK_HOME|NDK_ROOT)|DEVELOPER_DIR|JAVA_HOME\\w*|ANT_HOME|M2_HOME|MAVEN_HOME|GRADLE_HOME",
    "DOTNET_ROOT|FLUTTER_ROOT|GOPATH|GOROOT",
    "(?:HTTP|HTTPS|ALL|NO)_PROXY|(?:http|https|all|no)_proxy",
    "SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE",
  ].join("|")})$`,
);

/** Why a variable that builds need must not stand in a service file, worded to follow its name. */
const problemOf = (name: string, value: string): string | null => {
  if (name === "SSH_AUTH_SOCK") return "ends with this session";
  if (/proxy$/i.test(name) && value.includes("@")) return "has a password";
  return /[\x00-\x1f\x7f]/.test(value) ? "has control characters" : null;
};

/** The shell's variables that a service keeps for its agent and builds, and what it leaves: `NAME has a password`. */
export const keptVariables = (shell: NodeJS.ProcessEnv): { kept: Record<string, string>; left: string[] } => {
  const kept: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const left: string[] = [];
  for (const [name, value = ""] of Object.entries(shell).toSorted()) {
    if (value === "" || !(KEPT.test(name) || name === "SSH_AUTH_SOCK")) continue;
    const problem = problemOf(name, value);
    if (problem === null) kept[name] = value;
    else left.push(`${name} ${problem}`);
  }
  return { kept, left };
};
