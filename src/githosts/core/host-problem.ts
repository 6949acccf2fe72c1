/**
 * `token`: it is not accepted; `right`: it may not do this; `missing`: not there, or hidden; `stranger`: what answers is
 * no API of this kind; `away`: it may answer later.
 */
type HostProblemKind = "token" | "right" | "missing" | "refused" | "stranger" | "away";

/** Why a git host did not do what it was asked. The message is a sentence of ours: it quotes nothing of the answer. */
export class HostProblem extends Error {
  override name = "HostProblem";
  readonly kind: HostProblemKind;
  constructor(kind: HostProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
