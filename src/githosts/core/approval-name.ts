const APPROVE = /^approve:(0|[1-9]\d{0,5})$/;

/** The name of a button that approves a gate: at most 20 characters, as GitHub takes them. */
export const approvalName = (index: number): string => `approve:${index}`;

/** The place of the gate's job in its build; null for the name of something else. */
export const approvalIndexOf = (name: string): number | null => {
  const [, index] = APPROVE.exec(name) ?? [];
  return index === undefined ? null : Number(index);
};
