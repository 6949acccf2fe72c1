import { describe, expect, it } from "vitest";
import { inheritedBySteps, refusedInRun } from "../../src/domain/env-names.ts";

describe("names that a run must not set", () => {
  it.each([
    ...["PATH", "Path", "HOME", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "PS4", "CDPATH", "PROMPT_COMMAND", "ZDOTDIR"],
    ...["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "BASH_FUNC_ls"],
    ...["GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "git_dir", "SSH_ASKPASS", "https_proxy", "HTTPS_PROXY"],
    ...["NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "MAKEFILES"],
    ...["RUSTC", "CARGO_HOME", "GRADLE_USER_HOME", "PYTEST_PLUGINS", "DOCKER_HOST", "KUBECONFIG", "TAR_OPTIONS"],
    ...["RSYNC_RSH", "SVN_SSH", "PERL5SHELL", "MAVEN_ARGS", "YARN_YARN_PATH", "PIP_INDEX_URL", "AWS_ENDPOINT_URL_S3"],
    ...["npm_config_script_shell", "NPM_CONFIG_NODE_OPTIONS", "DOTNET_STARTUP_HOOKS", "MILLRACE_OUTPUT", "Millrace_X"],
  ])("rejects %s", (name) => {
    expect(refusedInRun(name)).toBe(true);
  });

  it.each([
    ...["A", "VERSION", "API_TOKEN", "CI", "DEBUG", "NODE_ENV", "TARGET", "_", "GITHUB_TOKEN", "LDFLAGS", "MY_PATH"],
    ...["constructor", "toString", "__proto__", "hasOwnProperty", "PYTHONUNBUFFERED", "JAVA_HOME", "CC", "TZ", "LANG"],
  ])("accepts %s", (name) => {
    expect(refusedInRun(name)).toBe(false);
  });
});

describe("the environment that steps inherit from the agent", () => {
  it("excludes the agent's own secrets and git's settings", () => {
    const names = ["PATH", "HOME", "ANDROID_HOME", "SSH_AUTH_SOCK", "MILLRACE_TOKEN", "GIT_DIR", "git_dir", "DIGIT_X"];
    expect(names.filter(inheritedBySteps)).toEqual(["PATH", "HOME", "ANDROID_HOME", "SSH_AUTH_SOCK", "DIGIT_X"]);
  });
});
