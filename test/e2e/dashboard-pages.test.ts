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
  describe("accessibility", () => accessibility(stage));
  describe("with long names", () => layout(stage));
  describe("with secrets", () => secrets(stage));
  describe("the page frame", () => frame(stage));
  describe("lists and forms", () => lists(stage));
  describe("the palette", () => palette(stage));
  describe("with hostile text", () => hostile(stage));
});
