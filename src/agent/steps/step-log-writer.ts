import { spend, type Work } from "../../domain/work.ts";
import type { JobLog } from "../log/build-log.ts";
import type { CommandFiles } from "./command-files.ts";
import { MaskCommandParser, type ParsedOutput } from "./mask-commands.ts";

/** Values that may be prepared for the search: all of the build are, each time that one is added. */
const MASK_WORK = 4_000_000;

const NO_MORE = "the steps mask values too often: output is left out from here on, write many values at once";

/** Writes a step's output to the build's log, after the masks that the step added before it. */
export class StepLogWriter {
  /** The files of the step that runs now: its mask file is read before each piece of output. */
  commandFiles: CommandFiles | null = null;
  readonly #parser = new MaskCommandParser();
  readonly #log: JobLog;
  readonly #onMasks: (masks: string[]) => void;
  readonly #work: Work;
  #masks = 0;
  /** Whether a value could not be masked: what follows may have it, and is not written. */
  #isClosed = false;

  /** `onMasks` gets only values that were not masked before. */
  constructor(log: JobLog, onMasks: (masks: string[]) => void, work: Work = { left: MASK_WORK }) {
    this.#work = work;
    this.#log = log;
    this.#onMasks = onMasks;
  }

  write(output: Uint8Array): void {
    this.#append(this.#parser.push(output));
  }

  /** Writes what the parser held back, once the step's output has ended. */
  flush(): void {
    this.#append(this.#parser.end());
  }

  addMasks(masks: string[]): void {
    const added = this.#log.unmasked(masks);
    if (added.length === 0 || this.#isClosed) return;
    this.#masks += added.length;
    if (spend(this.#work, this.#masks)) this.#onMasks(this.#log.addSecrets(added));
    else {
      this.#isClosed = true;
      this.#log.say(NO_MORE);
    }
  }

  #append({ masks, bytes }: ParsedOutput): void {
    this.addMasks([...masks, ...(this.commandFiles?.masks.added() ?? [])]);
    if (!this.#isClosed) this.#log.write(bytes);
  }
}
