import { describe, expect, it } from "vitest";
import { parseJUnit } from "../../../src/domain/reports/parse-junit.ts";
import { countTests, foldTries } from "../../../src/domain/reports/report-to-send.ts";

type Counts = Record<"total" | "failed" | "skipped" | "flaky", number>;
const of = (total: number, failed = 0, skipped = 0, flaky = 0): Counts => ({ total, failed, skipped, flaky });

/** Reports of these tools, with the counts that a person reads in them. */
const DIALECTS: [tool: string, counts: Counts, report: string][] = [
  [
    "pytest",
    of(4, 1, 1),
    `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="4" time="0.05">
<testcase classname="tests.test_cart" name="test_adds[1-2]" time="0.001" /><testcase classname="tests.test_cart" name="test_adds[2-3]" time="0.001" />
<testcase classname="tests.test_cart" name="test_total" time="0.002"><failure message="assert 3 == 4">def test_total():
&gt;       assert 3 == 4</failure></testcase>
<testcase classname="tests.test_cart" name="test_later" time="0"><skipped type="pytest.skip" message="no network">tests/test_cart.py:9</skipped></testcase></testsuite></testsuites>`,
  ],
  [
    "pytest with its reruns",
    of(1, 0, 0, 1),
    `<testsuites><testsuite name="pytest" tests="2"><testcase classname="t" name="a"><failure message="x"/></testcase><testcase classname="t" name="a"/></testsuite></testsuites>`,
  ],
  [
    "jest",
    of(3, 1, 1),
    `<testsuites name="jest tests" tests="3" failures="1" errors="0" time="0.8"><testsuite name="cart" errors="0" failures="1" skipped="1" tests="3">
<testcase classname="cart adds" name="cart adds" time="0.004"/><testcase classname="cart fails" name="cart fails" time="0.002"><failure>Error: expect(received).toBe(expected)</failure></testcase>
<testcase classname="cart skips" name="cart skips" time="0"><skipped/></testcase></testsuite></testsuites>`,
  ],
  [
    "Surefire",
    of(4, 1, 1, 1),
    `<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="surefire.xsd" name="org.example.CartTest" time="1,204.3" tests="4" errors="1" skipped="1" failures="0" flakes="1">
<properties><property name="java.version" value="21"/></properties>
<testcase name="adds" classname="org.example.CartTest" time="0.01"/><testcase name="later" classname="org.example.CartTest" time="0"><skipped message="x"/></testcase>
<testcase name="net" classname="org.example.CartTest" time="0.3"><flakyError message="timeout" type="java.io.IOException"><stackTrace><![CDATA[at x]]></stackTrace></flakyError></testcase>
<testcase name="breaks" classname="org.example.CartTest" time="0.3"><error message="npe" type="java.lang.NullPointerException">at y</error><rerunError message="npe"/></testcase></testsuite>`,
  ],
  [
    "PHPUnit",
    of(3, 1),
    `<testsuites><testsuite name="default" tests="3"><testsuite name="CartTest" file="/app/CartTest.php" tests="3"><testsuite name="CartTest::testAdds" tests="2">
<testcase name="testAdds with data set #0" class="CartTest" classname="CartTest" file="/app/CartTest.php" line="9" assertions="1" time="0.001"/>
<testcase name="testAdds with data set #1" class="CartTest" classname="CartTest" file="/app/CartTest.php" line="9" assertions="1" time="0.001"/></testsuite>
<testcase name="testTotal" class="CartTest" classname="CartTest" file="/app/CartTest.php" line="20" assertions="1" time="0.001"><failure type="ExpectationFailedException">CartTest::testTotal
Failed asserting that 3 is 4.</failure></testcase></testsuite></testsuite></testsuites>`,
  ],
  [
    "gotestsum",
    of(2, 1),
    `<testsuites tests="2" failures="1"><testsuite tests="2" failures="1" time="0.01" name="example.org/cart" timestamp="2026-11-01T00:00:00Z"><properties><property name="go.version" value="go1.25"/></properties>
<testcase classname="example.org/cart" name="TestAdds" time="0.000"></testcase><testcase classname="example.org/cart" name="TestTotal/three" time="0.000"><failure message="Failed" type="">cart_test.go:9: 3</failure></testcase></testsuite></testsuites>`,
  ],
  [
    "cargo nextest",
    of(2, 1, 0, 1),
    `<testsuites name="nextest-run" tests="2" failures="1" errors="0" uuid="0"><testsuite name="cart" tests="2" disabled="0" errors="0" failures="1">
<testcase name="tests::adds" classname="cart" time="0.01"><flakyFailure time="0.01" message="panicked" type="test failure">at</flakyFailure></testcase>
<testcase name="tests::total" classname="cart" time="0.01"><failure message="panicked" type="test failure">at</failure><system-err>x</system-err></testcase></testsuite></testsuites>`,
  ],
  [
    "CTest and GoogleTest",
    of(3, 1, 2),
    `<testsuites tests="3" failures="1" disabled="1"><testsuite name="Cart" tests="3" failures="1" disabled="1" skipped="1">
<testcase name="Adds" status="notrun" result="suppressed" classname="Cart"/><testcase name="Skips" status="run" result="skipped" classname="Cart"><skipped message="cart.cc:4"/></testcase>
<testcase name="Total" status="run" result="completed" classname="Cart"><failure message="Expected: 4&#x0A;Actual: 3" type=""><![CDATA[cart.cc:9]]></failure></testcase></testsuite></testsuites>`,
  ],
  [
    "mocha and the web test runner",
    of(3, 0, 1, 1),
    `<testsuites name="Mocha Tests"><testsuite name="Chrome" file="/app/cart.js" tests="4"><testcase name="adds" time="<<computed>>" classname="cart"/><testcase name="net" classname="cart"><failure message="&lt;3&gt;"/></testcase>
<testcase name="later" classname="cart"><skipped/></testcase><testcase name="net" classname="cart"/></testsuite></testsuites>`,
  ],
  [
    "xcpretty and Swift",
    of(2, 1),
    `<testsuites name="AppTests.xctest" tests="2" failures="1"><testsuite name="CartTests" tests="2" failures="1"><testcase classname="CartTests" name="testAdds" time="0.002"/>
<testcase classname="CartTests" name="testTotal"><failure message="XCTAssertEqual failed">CartTests.swift:9</failure></testcase></testsuite></testsuites>`,
  ],
];

describe("the counts of a report", () => {
  it.each(DIALECTS)("of %s match those that a person reads", (_, counts, report) => {
    expect(countTests(foldTries(parseJUnit(report)))).toMatchObject(counts);
  });
});
