import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { repeatHistories } from "./histories/repeat.ts";

const HISTORIES = 25;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
});

it(`the object answers like the state machine through ${HISTORIES} hostile histories`, async () => {
  expect(await repeatHistories(HISTORIES)).toMatchObject({ histories: HISTORIES });
}, 600_000);
