import { poolName } from "../../domain/durable-objects.ts";
import { VersionedObject } from "../versioned-object.ts";
import { PoolEngine } from "./engine.ts";
import { PoolRecords } from "./records.ts";
import { PoolRoom } from "./room.ts";

/**
 * What the methods of a pool work with. They are in groups, of which each extends the one before, because the platform
 * calls the methods of one object.
 */
export abstract class PoolObject extends VersionedObject {
  protected readonly engine: PoolEngine;
  protected readonly records: PoolRecords;
  protected readonly room: PoolRoom;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.engine = new PoolEngine(ctx, env);
    this.records = new PoolRecords(this.engine);
    this.room = new PoolRoom(this.engine);
    ctx.blockConcurrencyWhile(() => this.engine.load());
  }

  /** @throws where a build or agent of another organization was sent to this pool */
  protected checkOrganization(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }
}
