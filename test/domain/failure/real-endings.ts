/** Last lines of real programs that fail, by cause. The line marked with `>>` explains the failure. */
export const ENDINGS: Record<string, string> = {
  "npm ci with a missing package": `npm error code E404
>>npm error 404 Not Found - GET https://registry.npmjs.org/nope-nope - Not found
npm error 404
npm error 404  'nope-nope@*' is not in this registry.
npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log`,
  "npm ci without a lock file": `npm error code EUSAGE
npm error
>>npm error The \`npm ci\` command can only install with an existing package-lock.json or
npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or`,
  "an older npm, a missing file": `npm ERR! code ENOENT
npm ERR! syscall open
npm ERR! path /app/package.json
npm ERR! errno -2
>>npm ERR! enoent Could not read package.json: Error: ENOENT: no such file or directory
npm ERR! enoent This is related to npm not being able to find a file.`,
  "npm, cut off after its code": `added 12 packages
>>npm error code E404`,
  "npm run of no script": `>>npm error Missing script: "buidl"
npm error
npm error To see a list of scripts, run:`,
  "npm test with its own error": `> x@1.0.0 test
>>FAIL src/cart.test.ts
npm error Lifecycle script \`test\` failed with error:
npm error code 1
npm error path /app
npm error command failed
npm error command sh -c jest`,
  "yarn 1": `yarn install v1.22.22
info No lockfile found.
[1/4] Resolving packages...
>>error Couldn't find package "nope-nope" on the "npm" registry.
info Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command.`,
  "yarn 1, a wrong engine": `[2/4] Fetching packages...
>>error vite@7.0.0: The engine "node" is incompatible with this module. Expected version ">=20".
error Found incompatible module.`,
  "yarn run": `>>src/cart.ts(41,5): error TS2322: Type 'string' is not assignable to type 'number'.
error Command failed with exit code 2.`,
  "yarn 4": `➤ YN0000: · Yarn 4.5.0
➤ YN0000: ┌ Resolution step
>>➤ YN0035: │ nope-nope@npm:*: Package not found
➤ YN0035: │   Response Code: 404 (Not Found)
➤ YN0000: └ Completed in 0s 301ms
➤ YN0000: · Failed with errors in 0s 310ms`,
  pnpm: `Progress: resolved 1, reused 0, downloaded 0, added 0
>> ERR_PNPM_FETCH_404  GET https://registry.npmjs.org/nope-nope: Not Found - 404
This error happened while installing a direct dependency of /app`,
  pip: `Looking in indexes: https://pypi.org/simple
>>ERROR: Could not find a version that satisfies the requirement nope==9 (from versions: none)
ERROR: No matching distribution found for nope==9`,
  python: `Traceback (most recent call last):
  File "/app/x.py", line 1, in <module>
    import nope
>>ModuleNotFoundError: No module named 'nope'`,
  "cargo build": `   Compiling shop v0.1.0 (/app)
>>error[E0425]: cannot find value \`x\` in this scope
 --> src/main.rs:2:5
error: could not compile \`shop\` (bin "shop") due to 1 previous error`,
  "cargo test": `running 1 test
test tests::rounds ... FAILED
>>thread 'tests::rounds' panicked at src/lib.rs:9:9:
assertion \`left == right\` failed
test result: FAILED. 0 passed; 1 failed; 0 ignored`,
  "go build": `# example.com/shop
>>./main.go:5:2: undefined: rounded
./main.go:9:2: too many errors`,
  "go mod": `go: downloading golang.org/x/text v0.3.0
>>go: github.com/nope/nope@v1.0.0: reading https://proxy.golang.org/x.info: 404 Not Found
	server response: not found`,
  "go test": `=== RUN   TestCart
    cart_test.go:9: got 1, want 2
>>--- FAIL: TestCart (0.00s)
FAIL
exit status 1`,
  "gradle, a dependency": `> Task :compileJava FAILED

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
>>> Could not resolve all files for configuration ':compileClasspath'.
   > Could not find com.example:nope:1.0.`,
  "gradle, Kotlin": `> Task :compileKotlin FAILED
>>e: file:///app/src/main/kotlin/Main.kt:3:5 Unresolved reference: rounded

FAILURE: Build failed with an exception.`,
  "maven, a compiler": `[INFO] -------------------------------------------------------------
[ERROR] COMPILATION ERROR :
[INFO] -------------------------------------------------------------
>>[ERROR] /app/src/main/java/Main.java:[3,5] cannot find symbol
[INFO] BUILD FAILURE`,
  "maven, a test": `[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in CartTest
[ERROR] CartTest.rounds -- Time elapsed: 0.01 s <<< FAILURE!
>>org.opentest4j.AssertionFailedError: expected: <1> but was: <2>
	at CartTest.rounds(CartTest.java:9)`,
  java: `>>Exception in thread "main" java.lang.NullPointerException
	at Main.main(Main.java:3)`,
  xcodebuild: `>>/app/Shop/Cart.swift:9:5: error: cannot find 'rounded' in scope
** BUILD FAILED **

The following build commands failed:`,
  "xcodebuild, wrong arguments": `>>xcodebuild: error: The workspace named "Shop" does not contain a scheme named "Nope".`,
  "xcodebuild, a linker": `>>Undefined symbols for architecture arm64:
  "_rounded", referenced from:
ld: symbol(s) not found for architecture arm64`,
  "make, a target": `>>make: *** No rule to make target 'nope'.  Stop.`,
  "make, a command": `./check
>>make: *** [Makefile:2: all] Error 1`,
  bash: `>>/tmp/step.sh: line 1: nope: command not found`,
  dash: `>>sh: 1: nope: not found`,
  zsh: `>>zsh:1: command not found: nope`,
  "bash, a variable": `+ deploy
>>/tmp/step.sh: line 3: TARGET: unbound variable`,
  "bash, a child": `>>/tmp/step.sh: line 2:  1234 Killed                  npm test`,
  cp: `building
>>cp: cannot stat 'dist': No such file or directory`,
  "docker build": `#7 [2/3] RUN npm ci
#7 0.341 npm error code EUSAGE
>>#7 0.342 npm error The \`npm ci\` command can only install with an existing package-lock.json or
#7 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1`,
  "docker run": `Unable to find image 'nope:latest' locally
>>docker: Error response from daemon: pull access denied for nope, repository does not exist
Run 'docker run --help' for more information`,
  git: `Cloning into 'shop'...
>>fatal: repository 'https://git.example/shop.git/' not found`,
  "git push": `To https://git.example/shop.git
>> ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'https://git.example/shop.git'`,
  "git, over SSH": `>>git@git.example: Permission denied (publickey).
fatal: Could not read from remote repository.`,
  node: `node:internal/modules/cjs/loader:1228
  throw err;
  ^

>>Error: Cannot find module './cart'
Require stack:
- /app/index.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
Node.js v24.0.0`,
  "node, out of memory": `<--- Last few GCs --->
>>FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----`,
  eslint: `/app/src/cart.ts
>>  3:10  error  'x' is defined but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)`,
  webpack: `asset main.js 1 KiB
>>ERROR in ./src/index.js 1:0-24
Module not found: Error: Can't resolve './cart' in '/app/src'`,
  "node --test": `✔ adds (1.2ms)
>>✖ rounds once (2.1ms)
ℹ fail 1`,
  ruby: `>>x.rb:1:in 'Kernel#require': cannot load such file -- nope (LoadError)
	from x.rb:1:in '<main>'`,
  dotnet: `>>/app/Program.cs(3,5): error CS0103: The name 'rounded' does not exist [/app/app.csproj]

Build FAILED.`,
  terraform: `╷
>>│ Error: Reference to undeclared resource
│
│   on main.tf line 3:`,
  "apt-get": `Reading package lists...
>>E: Unable to locate package nope`,
  curl: `>>curl: (6) Could not resolve host: nope.example`,
  kubectl: `>>Error from server (NotFound): deployments.apps "shop" not found`,
};

/** Their output when they succeed. */
export const ORDINARY = `npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported
added 120 packages, and audited 121 packages in 3s
found 0 vulnerabilities
yarn install v1.22.22
Done in 2.34s.
➤ YN0013: │ 12 packages were added to the project (+ 3.2 MiB).
➤ YN0000: · Done with warnings in 3s 201ms
Progress: resolved 312, reused 312, downloaded 0, added 312, done
Successfully installed requests-2.32.3
   Compiling error-chain v0.12.4
test tests::error_is_told ... ok
test result: ok. 3 passed; 0 failed; 0 ignored
go: downloading golang.org/x/text v0.3.0
go: added example.com/errors v1.2.3
    cart_test.go:9: rounds as expected
ok  	example.com/errors	0.012s
> Task :compileJava UP-TO-DATE
BUILD SUCCESSFUL in 3s
[INFO] BUILD SUCCESS
[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0
[WARNING] Using platform encoding
Test Case '-[CartTests rounds]' passed (0.002 seconds).
** BUILD SUCCEEDED **
make[1]: Entering directory '/app'
make: Nothing to be done for 'all'.
Unable to find image 'alpine:latest' locally
#7 0.341 added 120 packages
#7 DONE 3.2s
Cloning into 'shop'...
From https://git.example/shop
 * [new branch]      fatal-errors -> origin/fatal-errors
src/errors/error-page.tsx
error handling: 3 tests passed
errors: 0
ERROR_LOG=/tmp/errors
✔ prints an error (1.2ms)
ℹ fail 0
✓ killed 12 mutants
e: 2.718281828
which: no gmake in (/usr/bin:/bin)
The command was not found in the cache, it was built
Terraform will perform the following actions:
│ 12 resources
<system-out>expect no error</system-out>
Aborting is not needed
2 problems (0 errors, 2 warnings)`;
