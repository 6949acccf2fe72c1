import { describe, expect, it } from "vitest";
import { REFUSED } from "../../../src/pipeline/shell/quoting.ts";
import { replaceExpressions } from "../../../src/pipeline/shell/references.ts";

const ONE = "${MILLRACE_EXPR_1}";
const X = "${{ x }}";

describe("an expression in a script for bash or sh", () => {
  it.each([
    ["outside quotes", `echo ${X}`, `echo "${ONE}"`],
    ["beside text", `echo a${X}b`, `echo a"${ONE}"b`],
    ["in double quotes", `echo "a ${X} b"`, `echo "a ${ONE} b"`],
    ["in an assignment", `A=${X}`, `A="${ONE}"`],
    ["after an escaped quote", `echo "\\" ${X}"`, `echo "\\" ${ONE}"`],
    ["after single quotes", `echo 'a' ${X}`, `echo 'a' "${ONE}"`],
    ["after an apostrophe in double quotes", `echo "it's" ${X}`, `echo "it's" "${ONE}"`],
    ["in a substitution", `echo "$(basename ${X})"`, `echo "$(basename "${ONE}")"`],
    ["in a quoted substitution", `echo $(basename "${X}")`, `echo $(basename "${ONE}")`],
    [
      "after a substitution with case in it",
      `echo "$(case a in a) echo;; esac) ${X}"`,
      `echo "$(case a in a) echo;; esac) ${ONE}"`,
    ],
    ["as a default", `echo \${A:-${X}}`, `echo \${A:-"${ONE}"}`],
    ["as a default in quotes", `echo "\${A:-${X}}"`, `echo "\${A:-${ONE}}"`],
    [
      "in a heredoc",
      `cat <<EOF\na ${X} "b"\nEOF\necho ${X}`,
      `cat <<EOF\na ${ONE} "b"\nEOF\necho "\${MILLRACE_EXPR_2}"`,
    ],
    ["in a heredoc with tabs", `cat <<-EOF\n\t${X}\n\tEOF\necho 'a'`, `cat <<-EOF\n\t${ONE}\n\tEOF\necho 'a'`],
    ["in the second heredoc", `cat <<'A' <<B\n'\nA\n${X}\nB`, `cat <<'A' <<B\n'\nA\n${ONE}\nB`],
    ["in a here-string", `tr a b <<< ${X}`, `tr a b <<< "${ONE}"`],
    ["in what read reads", `read -r A <<< ${X}`, `read -r A <<< "${ONE}"`],
    ["in an array", `A=(a ${X})`, `A=(a "${ONE}")`],
    ["in a test", `[ ${X} = main ] && [ "${X}" -eq 1 ]`, `[ "${ONE}" = main ] && [ "\${MILLRACE_EXPR_2}" -eq 1 ]`],
    ["in [[ ]]", `[[ ${X} == release/* ]]`, `[[ "${ONE}" == release/* ]]`],
    ["in case", `case ${X} in main) echo;; esac`, `case "${ONE}" in main) echo;; esac`],
    ["as a command", `${X} --version`, `"${ONE}" --version`],
    ["after export NAME=", `export A=${X}`, `export A="${ONE}"`],
    ["after bash -c's program", `bash -c 'echo "$1"' _ ${X}`, `bash -c 'echo "$1"' _ "${ONE}"`],
    ["as ssh's host", `ssh -p 22 ${X} uptime`, `ssh -p 22 "${ONE}" uptime`],
    ["as awk's variable", `awk -v b=${X} '{ print b }'`, `awk -v b="${ONE}" '{ print b }'`],
    ["as a file for sed", `sed -n 1p ${X}`, `sed -n 1p "${ONE}"`],
    ["in what a script reads", `python gen.py <<EOF\n${X}\nEOF`, `python gen.py <<EOF\n${ONE}\nEOF`],
    ["where # is no comment", `echo a#${X}`, `echo a#"${ONE}"`],
    ["after a redirection", `echo ${X} > "${X}" 2>&1`, `echo "${ONE}" > "\${MILLRACE_EXPR_2}" 2>&1`],
    ["with quotes of its own", "echo ${{ format('}} {0}', x) }}", `echo "${ONE}"`],
  ])("%s is a reference", (_, run, script) => {
    expect(replaceExpressions(run, "bash")).toMatchObject({ script, problems: [] });
    expect(replaceExpressions(run, "sh").script).toBe(script);
  });

  it.each([
    ["single quotes", `echo '${X}'`, REFUSED.single],
    ["$'...'", `echo $'a\\'${X}'`, REFUSED.single],
    ["single quotes in a substitution", `echo "$(echo '${X}')"`, REFUSED.single],
    ["a quoted heredoc", `cat <<'EOF'\n${X}\nEOF`, REFUSED.heredoc],
    ["a heredoc with an escaped word", `cat <<\\EOF\n${X}\nEOF`, REFUSED.heredoc],
    ["a heredoc's word", `cat <<${X}\na\n`, REFUSED.word],
    ["a backslash", `echo \\${X}`, REFUSED.escaped],
    ["backticks", `echo \`echo ${X}\``, REFUSED.backtick],
    ["$(( ))", `echo $((1 + ${X}))`, REFUSED.arithmetic],
    ["(( ))", `((n = ${X}))`, REFUSED.arithmetic],
    ["$[ ]", `echo $[${X}]`, REFUSED.arithmetic],
    ["an index", `a[${X}]=1`, REFUSED.arithmetic],
    ["the index of an expansion", `echo "\${a[${X}]}"`, REFUSED.arithmetic],
    ["an offset", `echo "\${A:${X}}"`, REFUSED.arithmetic],
    ["[[ -eq ]]", `[[ ${X} -eq 1 ]]`, REFUSED.arithmetic],
    ["declare -i", `declare -i n=${X}`, REFUSED.arithmetic],
    ["eval", `eval "echo ${X}"`, REFUSED.code],
    ["eval by a detour", `command eval "$(echo ${X})"`, REFUSED.code],
    ["bash -c", `sudo bash -ec "echo ${X}"`, REFUSED.code],
    ["bash -o -c", `bash -o pipefail -c "echo ${X}"`, REFUSED.code],
    ["python -c", `python3 -c "print('${X}')"`, REFUSED.code],
    ["node -e", `node -e "console.log('${X}')"`, REFUSED.code],
    ["sed's program", `sed -i "s/VERSION/${X}/" file`, REFUSED.code],
    ["awk's program", `awk -F : "{ print ${X} }" file`, REFUSED.code],
    ["ssh's command", `ssh -p 22 host "echo ${X}"`, REFUSED.code],
    ["trap", `trap "rm ${X}" EXIT`, REFUSED.code],
    ["a shell's heredoc", `bash <<EOF\necho ${X}\nEOF`, REFUSED.code],
    ["a heredoc piped to a shell", `cat <<EOF | sh\necho ${X}\nEOF`, REFUSED.code],
    ["a remote shell's heredoc", `ssh host <<EOF\necho ${X}\nEOF`, REFUSED.code],
    ["a pipe to a shell", `{ echo "${X}"; } | bash -s`, REFUSED.code],
    ["a shell's here-string", `bash <<< "echo ${X}"`, REFUSED.code],
    ["a sourced substitution", `source <(echo ${X})`, REFUSED.code],
    ["the name in export", `export ${X}=1`, REFUSED.name],
    ["the name in printf -v", `printf -v ${X} a`, REFUSED.name],
    ["the name in read", `read ${X}`, REFUSED.name],
    ["the name in test -v", `[ -v ${X} ]`, REFUSED.name],
  ])("in %s is rejected", (_, run, message) => {
    expect(replaceExpressions(run, "bash").problems).toEqual([{ offset: run.indexOf("${{"), message }]);
  });

  it("in a comment stays and is never evaluated", () => {
    const run = `# ${X} it's\necho ${X} # '${X}\necho ${X}`;
    const { script, expressions, problems } = replaceExpressions(run, "bash");
    expect(problems).toEqual([]);
    expect(expressions.map((one) => one.offset)).toEqual([19, 45].map((at) => run.indexOf("x", at)));
    expect(script).toBe(`# ${X} it's\necho "${ONE}" # '${X}\necho "\${MILLRACE_EXPR_2}"`);
  });

  it("that is never closed is reported", () => {
    expect(replaceExpressions("echo ${{ 'a }} b", "bash").problems).toEqual([
      { offset: 5, message: "This ${{ is never closed by }}" },
    ]);
  });
});

describe("an expression in a script for another shell", () => {
  it.each([
    [`echo ${X}`, "echo ${env:MILLRACE_EXPR_1}"],
    [`echo "a ${X}b"`, 'echo "a ${env:MILLRACE_EXPR_1}b"'],
    [`$a = @"\n${X} it's\n"@`, '$a = @"\n${env:MILLRACE_EXPR_1} it\'s\n"@'],
    [`echo 'a' ${X}`, "echo 'a' ${env:MILLRACE_EXPR_1}"],
    [`echo "$(echo ${X})"`, 'echo "$(echo ${env:MILLRACE_EXPR_1})"'],
    [`<# ${X} #> echo ${X} # ${X}`, `<# ${X} #> echo \${env:MILLRACE_EXPR_1} # ${X}`],
  ])("is a reference in pwsh: %s", (run, script) => {
    expect(replaceExpressions(run, "pwsh")).toMatchObject({ script, problems: [] });
  });

  it.each([
    [`echo '${X}'`, REFUSED.single],
    [`$a = @'\n${X}\n'@`, REFUSED.single],
    [`echo \`${X}`, REFUSED.escaped],
    [`Invoke-Expression "echo ${X}"`, REFUSED.code],
    [`iex ${X}`, REFUSED.code],
  ])("is rejected in pwsh: %s", (run, message) => {
    expect(replaceExpressions(run, "pwsh").problems).toEqual([{ offset: run.indexOf("${{"), message }]);
  });

  it("is rejected in python and node, which have no reference", () => {
    expect(replaceExpressions(`print("${X}")`, "python").problems[0]?.message).toContain('os.environ["NAME"]');
    expect(replaceExpressions(`console.log("${X}")`, "node").problems[0]?.message).toContain(
      "the environment of the process",
    );
  });
});
