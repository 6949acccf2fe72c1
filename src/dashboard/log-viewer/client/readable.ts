/** Red, green and blue, each 0 to 255. */
export type Rgb = [number, number, number];

/** The least contrast between text and what is behind it (WCAG 2.2, AA). */
const LEAST = 4.5;
const STEPS = 20;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** What is behind the lines of a log at its darkest in the light theme and at its lightest in the dark one. */
export const GROUNDS: Record<"light" | "dark", Rgb> = { light: [240, 238, 224], dark: [48, 46, 36] };

const linear = (value: number): number => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

const luminance = ([red, green, blue]: Rgb): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

export const contrast = (one: Rgb, other: Rgb): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((left, right) => right - left);
  return (light + 0.05) / (dark + 0.05);
};

const mix = (from: Rgb, to: Rgb, part: number): Rgb =>
  from.map((value, at) => Math.round(value + ((to[at] ?? 0) - value) * part)) as Rgb;

/** The colour itself where it can be read on the ground; else the nearest one on the way to black or white that can. */
export const readableOn = (colour: Rgb, ground: Rgb): Rgb => {
  const target = contrast(BLACK, ground) > contrast(WHITE, ground) ? BLACK : WHITE;
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(colour, target, step / STEPS);
    if (contrast(mixed, ground) >= LEAST) return mixed;
  }
  return target;
};

export const cssOf = (rgb: Rgb): string => `rgb(${rgb})`;

/** A colour of text that can be read in both themes. */
export const inBothThemes = (colour: Rgb): string =>
  `light-dark(${cssOf(readableOn(colour, GROUNDS.light))}, ${cssOf(readableOn(colour, GROUNDS.dark))})`;
