import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LogBuffer } from "../../../src/agent/log/log-sender.ts";
import { testFolder } from "../support/folder.ts";
import { CAN_MOUNT, smallDisk } from "../support/small-disk.ts";

describe.runIf(CAN_MOUNT)("a log on a full disk", () => {
  it("fails once, and keeps the last bytes in memory", () => {
    const spool = new LogBuffer(join(smallDisk(), "log"));
    onTestFinished(() => spool.dispose());
    const piece = Buffer.alloc(300_000, "x");
    const fill = (): void => {
      for (let n = 0; n < 100; n++) spool.write(piece);
    };
    expect(fill).toThrow("ENOSPC");
    const size = spool.size;
    expect(size % piece.length).toBe(0);
    spool.write(Buffer.from("why it ended\n"));
    expect(Buffer.from(spool.read(size - 3, 100)).toString()).toBe("xxxwhy it ended\n");
    expect(Buffer.from(spool.read(0, size)).equals(Buffer.alloc(size, "x"))).toBe(true);
  });
});

describe("a log's next chunk", () => {
  const buffer = () => {
    const spool = new LogBuffer(join(testFolder(), "log"));
    onTestFinished(() => spool.dispose());
    return spool;
  };
  const title = Buffer.from("--- title\n");

  it("contains a line that may wait together with the text after it", () => {
    const spool = buffer();
    spool.write(title, true);
    expect({ size: spool.size, due: spool.due }).toEqual({ size: title.length, due: 0 });
    spool.write(Buffer.from("output\n"));
    expect(spool.due).toBe(spool.size);
  });

  it("contains that line alone if nothing follows, or the log ends", async () => {
    const spool = buffer();
    spool.write(title, true);
    await spool.grown.wait(null, new AbortController().signal);
    expect(spool.due).toBe(title.length);
    spool.write(title, true);
    spool.close();
    expect(spool.due).toBe(2 * title.length);
  });
});
