/** A wrong rule that replaces a right one: a text that this file of the repository has exactly once. */
export interface PlantedRule {
  file: string;
  right: string;
  wrong: string;
}

/**
 * Returns the text of the file with the wrong rule. @throws if it does not have the right one, or has it several times
 */
export const plant = (text: string, { file, right, wrong }: PlantedRule): string => {
  const times = text.split(right).length - 1;
  if (times !== 1) throw new Error(`${file} must have this rule once, but has it ${times} times: ${right}`);
  return text.replace(right, () => wrong);
};
