import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contrast, GROUNDS, type Rgb, readableOn } from "../../../src/dashboard/log-viewer/client/colours.ts";

const channel = fc.integer({ min: 0, max: 255 });
const colour = fc.tuple(channel, channel, channel) as fc.Arbitrary<Rgb>;
const CUBE = [0, 95, 135, 175, 215, 255];
const PALETTE: Rgb[] = [
  ...CUBE.flatMap((red) => CUBE.flatMap((green) => CUBE.map((blue): Rgb => [red, green, blue]))),
  ...Array.from({ length: 24 }, (_, step): Rgb => [8 + step * 10, 8 + step * 10, 8 + step * 10]),
];

describe("a log color", () => {
  it("is readable in both themes, for all 240 palette colors", () => {
    for (const ground of Object.values(GROUNDS))
      for (const one of PALETTE) expect(contrast(readableOn(one, ground), ground)).toBeGreaterThanOrEqual(4.5);
  });

  it("is readable on any background, and unchanged if it already was", () => {
    fc.assert(
      fc.property(colour, colour, (text, ground) => {
        const shown = readableOn(text, ground);
        expect(contrast(shown, ground)).toBeGreaterThanOrEqual(4.5);
        if (contrast(text, ground) >= 4.5) expect(shown).toEqual(text);
      }),
    );
  });

  it("is unreadable without the correction", () => {
    expect(contrast([255, 255, 0], [255, 255, 255])).toBeLessThan(1.1);
    expect(contrast([10, 20, 30], GROUNDS.dark)).toBeLessThan(1.5);
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21);
  });
});
