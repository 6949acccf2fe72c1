import { oncePer } from "../once-per.ts";
import { type NamedKey, parseKeys } from "./keys.ts";
import { Signer } from "./signer.ts";

const SHAPE = /^mrb_([a-z0-9-]{1,64})_([0-9a-f-]{36})\.([1-9][0-9]{0,8})_([A-Za-z0-9]{12})$/;

/** One generation of a pipeline's badge. Each generation has its own address. */
interface Badge {
  orgId: string;
  pipelineId: string;
  generation: number;
}

const parts = ({ pipelineId, generation }: Badge): string => `${pipelineId}.${generation}`;

/**
 * Derives addresses `mrb_ORGANIZATION_PIPELINE.GENERATION_TAG` from the keys of `TOKEN_KEYS`. The service stores no
 * address, and rejects a forged one without a query to the database.
 */
export class BadgeMint {
  readonly #signer: Signer;

  constructor(keys: readonly NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  /** Returns the same address for the same badge as long as the first key stays the same. */
  async grant(badge: Badge): Promise<string> {
    const tag = await this.#signer.tag(this.#signer.first, "mrb", badge.orgId, parts(badge));
    return `mrb_${badge.orgId}_${parts(badge)}_${tag}`;
  }

  /**
   * Reads the badge from an address. Returns `undefined` for a forged address. Only the pipeline knows whether the
   * generation is still valid.
   */
  async recognize(token: string): Promise<Badge | undefined> {
    const [, orgId = "", pipelineId = "", generation, tag = ""] = SHAPE.exec(token) ?? [];
    if (!generation) return undefined;
    const badge: Badge = { orgId, pipelineId, generation: Number(generation) };
    return (await this.#signer.keyOf(tag, "mrb", orgId, parts(badge))) && badge;
  }
}

const once = oncePer<BadgeMint>();

/**
 * Loads the mint of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadBadgeMint = (text: string | undefined): BadgeMint =>
  once(text ?? "", () => new BadgeMint(parseKeys(text)));
