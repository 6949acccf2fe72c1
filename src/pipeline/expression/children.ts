import { Binary, type Expr, FunctionCall, Grouping, IndexAccess, Logical, Star, Unary } from "@actions/expressions/ast";

/** The nodes right below one of an expression's tree. */
export const childrenOf = (node: Expr): Expr[] => {
  if (node instanceof IndexAccess) return node.index instanceof Star ? [node.expr] : [node.expr, node.index];
  if (node instanceof FunctionCall || node instanceof Logical) return node.args;
  if (node instanceof Unary) return [node.expr];
  if (node instanceof Grouping) return [node.group];
  return node instanceof Binary ? [node.left, node.right] : [];
};
