import { expect, it } from "vitest";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { StepLogWriter } from "../../../src/agent/steps/step-log-writer.ts";

/** Returns the log of a step that masks a value before each line, and the masked values. */
const logOf = (lines: number, left: number) => {
  const written: Uint8Array[] = [];
  const masks: string[] = [];
  const log = new JobLog([], { size: 0, write: (bytes) => written.push(bytes) }, () => {});
  const writer = new StepLogWriter(log, (added) => masks.push(...added), { left });
  for (let line = 1; line <= lines; line++)
    writer.write(Buffer.from(`::add-mask::value-${line}.\nsays value-${line}.\n`));
  writer.addMasks(["value-1."]);
  writer.write(Buffer.from("the end\n"));
  writer.flush();
  log.flush();
  return { text: Buffer.concat(written).toString(), masks: masks.length };
};

it("the step log limits the work for masks that arrive one by one, and writes nothing unmasked", () => {
  // 1 + 2 + ... + 44 is 990.
  const { text, masks } = logOf(100, 1000);
  expect(masks).toBe(44);
  expect(text.match(/says \*{3}/g)).toHaveLength(44);
  expect(text).toContain("the steps add masks too often");
  expect(text).not.toMatch(/value-|the end/);
});

it("the step log writes everything within the work limit", () => {
  const { text, masks } = logOf(44, 1000);
  expect([masks, text.includes("too often")]).toEqual([44, false]);
  expect(text).toMatch(/says \*{3}\nthe end\n$/);
});
