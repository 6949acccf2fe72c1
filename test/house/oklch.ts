/** A colour in linear sRGB, each part from 0 to 1. */
export type Colour = [number, number, number];

const RADIANS = Math.PI / 180;

/** Converts OKLCH to lightness and the two colour axes: https://bottosson.github.io/posts/oklab */
const toLab = ([lightness, chroma, hue]: Colour): Colour => [
  lightness,
  chroma * Math.cos(hue * RADIANS),
  chroma * Math.sin(hue * RADIANS),
];

const fromLab = ([lightness, a, b]: Colour): Colour => {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((part) => Math.min(1, Math.max(0, part))) as Colour;
};

/** Parses `oklch(L% C H)` from a style sheet. */
export const readOklch = (text: string): Colour => {
  const found = /^oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)$/.exec(text);
  if (!found) throw new Error(`${text} is no colour of the kind that the pages use`);
  return [Number(found[1]) / 100, Number(found[2]), Number(found[3])];
};

export const toLinear = (colour: Colour): Colour => fromLab(toLab(colour));

/** Computes `color-mix(in oklab, top SHARE, transparent)` over an opaque ground. Browsers blend it in sRGB. */
export const over = (top: Colour, share: number, ground: Colour): Colour => {
  const encode = (part: number) => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
  const decode = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return top.map((part, index) => decode(encode(part) * share + encode(ground[index] ?? 0) * (1 - share))) as Colour;
};

const luminance = ([red, green, blue]: Colour): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** Returns the WCAG 2 contrast, from 1 to 21. */
export const contrast = (one: Colour, other: Colour): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((left, right) => right - left);
  return (light + 0.05) / (dark + 0.05);
};
