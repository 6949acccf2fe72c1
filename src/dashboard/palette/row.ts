export type PaletteKind = "build" | "run" | "pipeline" | "repository" | "agent" | "variable" | "group";

/** Something that the palette finds by its words, and opens. */
export interface PaletteRow {
  kind: PaletteKind;
  name: string;
  /** What tells it from others of its name. */
  note: string;
  href: string;
}
