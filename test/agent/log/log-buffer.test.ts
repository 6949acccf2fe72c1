import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LogBuffer } from "../../../src/agent/log/log-sender.ts";
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
