import { describe } from "vitest";
import { accessibility } from "./dashboard/accessibility.ts";
import { frame } from "./dashboard/frame.ts";
import { hostile } from "./dashboard/hostile.ts";
import { layout } from "./dashboard/layout.ts";
import { lists } from "./dashboard/lists.ts";
import { palette } from "./dashboard/palette.ts";
import { secrets } from "./dashboard/secrets.ts";
import { setStage } from "./dashboard/stage.ts";

const stage = setStage();

describe("the dashboard", () => {
  describe("for everyone", () => accessibility(stage));
  describe("with long names", () => layout(stage));
  describe("with secrets", () => secrets(stage));
  describe("of the frame", () => frame(stage));
  describe("of lists and forms", () => lists(stage));
  describe("of the palette", () => palette(stage));
  describe("under hostile text", () => hostile(stage));
});
