/** How programs usually begin the line that names the error. */
const COMMON = [
  /^\s*(?:[\w.$]+\.)?\w*(?:Error|Exception)\b(?:\s*\[\w+\])?: \S/,
  /^\s*(?:\S+: )?(?:fatal|fatal error|error)(?:\[\w+\])?:(?: |$)/i,
  /\bpanic(?:ked at|:)/,
  /^(?:##\[error\]|::error\b)/,
  /\berror(?: [A-Z]{1,6}\d+|\[E\d+\])?: \S/,
  /^E {3,}\S/,
  /\bexpected\b.+\b(?:to (?:be|equal|have|match|contain)|but (?:got|was|found))\b/i,
  /^(?:Caused by: |Exception in thread "[^"]*" )\S/,
  /\((?:\w+::)*\w*(?:Error|Exception)\)$/,
  /^(?:✘ )?\[(?:error|fatal)\] (?!COMPILATION ERROR|(?:Failures|Errors|Tests run)\b)(?!.*<<< (?:FAILURE|ERROR)!)\S/i,
];

/** Lines in which npm names the place of an error. The reason follows them. */
const NPM_PLACE =
  "code|errno|syscall|path|file|dest|command|workspace|location|Lifecycle|Test failed|Exit status|Failed at|This is|A complete log|\\S+ (?:info|http|WARN|warn) |\\S+@\\S+ \\w+: `";

/** Patterns for programs whose error lines begin in their own way. */
const OWN = [
  new RegExp(`^npm (?:error|ERR!) (?!${NPM_PLACE})\\S`),
  // Yarn 1, Yarn 2 and later, and pnpm.
  /^error (?!Command failed)(?:[A-Z]|\S+@\S+: )/,
  /^➤ YN00(?:01|09|16|18|20|28|30|33|35|41|66|82): . \S/,
  /^\s*\[?ERR_PNPM_\w+\]? +\S/,
  // Shells, and the commands that they run.
  /: command not found$|^zsh:\d+: command not found: \S/,
  /^\S+: (?:line )?\d+: .*(?:: not found|: unbound variable|: parameter not set|: Permission denied|: No such file or directory|: cannot execute.*|[Ss]yntax error.*)$/,
  /(?:^|: line \d+: +\d+ )(?:Killed|Segmentation fault|Bus error|Aborted|Illegal instruction)(?: \(core dumped\)|\s{2,}|$)/,
  /^g?make(?:\[\d+\])?: \*\*\* (?!\[)/,
  // Compilers, linkers and linters.
  /^(?:vet: )?\S+\.go:\d+:\d+: \S/,
  /^go: .*(?:\b(?:cannot|no required module|not found|invalid|unknown|checksum mismatch|updates to go\.mod needed)\b|: reading )/,
  /^e: (?:file:\/\/)?\/\S+\.kts?:/,
  /\bundefined reference to\b|^(?:\S*\/)?ld: (?:cannot find|library|symbol|framework)|^Undefined symbols for architecture/,
  /^\s+\d+:\d+\s+error\s{2,}\S/,
  /^ERROR in \S/,
  /^\s*❌\s+\S/,
  /^PHP (?:Fatal|Parse) error: /,
  /^\s*Failure\/Error: \S/,
  // Gradle.
  /^> (?:Could not |Compilation failed|There were failing tests|Process '.*' finished with non-zero|Plugin \[|A failure occurred while)/,
  // Git, Docker, networks and clouds.
  /Permission denied \(publickey|^CONFLICT \(|^ ! \[(?:remote )?rejected\]/,
  /^(?:docker: )?(?:Error response from daemon: |Cannot connect to the Docker daemon)/,
  /^curl: \(\d+\) |^ssh: (?:connect to host|Could not resolve) /,
  /^E: [A-Z]/,
  /^Error from server \(|\bAn error occurred \(\w+\) when calling /,
];

export const SAYS_WHY = [...COMMON, ...OWN];

/** How programs begin the line that names the failed part. */
export const SAYS_WHERE = [
  /^\s*(?:---\s+)?FAIL(?:ED|URE)?\b(?!\s*[:=]?\s*0\b)/,
  /^\s*(?:✕|✗|✘|✖|×|●|not ok)\s/,
  /^npm (?:error|ERR!) code \S/,
  /^g?make(?:\[\d+\])?: \*\*\* \[/,
  /^> Task \S+ FAILED$|^\*\* [\w ]+ FAILED \*\*$|^test \S+ \.\.\. FAILED$|^Test Case '.*' failed \(|<<< (?:FAILURE|ERROR)!/,
];

/** A small program's complaint, after which scripts often continue. */
export const COMPLAINS =
  /^[\w./-]+: .*: (?:No such file or directory|Permission denied|Is a directory|No space left on device)$/;
