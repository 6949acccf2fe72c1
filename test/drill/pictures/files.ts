/** Returns a shop's jobs. One test fails if `broken.txt` exists. `release` has a gate, and `slow` has a long job. */
export const SHOP = (go: string): string => `jobs:
  lint:
    cache: [{ name: deps, files: .millrace.yml, path: deps }]
    steps: [{ name: Lint, run: "mkdir -p deps; echo checked 214 files; sleep 0.4" }]
  test:
    steps:
      - name: Install
        run: "echo added 214 packages; sleep 0.7"
      - name: Test
        run: |
          for n in $(seq 40); do echo " ✓ src/part-$n.test.ts (12 tests)"; done
          cases=$(for n in $(seq 30); do echo "<testcase classname='cart' name='adds $n' time='0.0$n'/>"; done)
          if [ -e broken.txt ]; then
            printf '\\033[31m FAIL \\033[0m src/cart.test.ts > rounds once\\n'
            printf '\\033[31mAssertionError: expected 118.99 to be 119\\033[0m\\n'
            echo ' ❯ src/cart.test.ts:41:23'
            echo '     40|   const total = sum(lines)'
            echo '   > 41|   expect(total).toBe(119)'
            cases="$cases<testcase classname='cart' name='rounds once' time='0.4'><failure message='expected 118.99 to be 119'>at cart.test.ts:41</failure></testcase>"
          fi
          echo "<testsuite name='shop'>$cases</testsuite>" > report.xml
          sleep 1.2
          [ ! -e broken.txt ]
    reports: { junit: report.xml }
  build:
    matrix: { target: [web, server] }
    steps:
      - name: Build
        run: |
          mkdir -p dist; echo "built \${{ matrix.target }}" | tee dist/\${{ matrix.target }}.txt; sleep 0.9
          while [ "\${{ build.branch }}" = slow ] && [ ! -e ${go} ]; do echo "step $((n += 1)) of many"; sleep 0.3; done
    artifacts: [{ name: dist, path: dist/ }]
  deploy:
    needs: [test, build]
    if: build.branch == 'release'
    gate: { message: "Release 2.4 to production?" }
    steps: [{ name: Deploy, run: "echo deployed" }]
`;

export const APP = "steps:\n  - name: Archive\n    run: xcodebuild archive\n";
