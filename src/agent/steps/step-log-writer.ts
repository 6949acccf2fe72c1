import type { BuildLog } from "../log/build-log.ts";
import type { CommandFiles } from "./command-files.ts";
import { MaskCommandParser, type ParsedOutput } from "./mask-commands.ts";

/** Writes a step's output to the build's log, after the masks that the step added before it. */
export class StepLogWriter {
  /** The files of the step that runs now: its mask file is read before each piece of output. */
  commandFiles: CommandFiles | null = null;
  readonly #parser = new MaskCommandParser();
  readonly #log: BuildLog;
  readonly #onMasks: (masks: string[]) => void;

  /** `onMasks` gets only values that were not masked before. */
  constructor(log: BuildLog, onMasks: (masks: string[]) => void) {
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
    const added = this.#log.addSecrets(masks);
    if (added.length > 0) this.#onMasks(added);
  }

  #append({ masks, bytes }: ParsedOutput): void {
    this.addMasks([...masks, ...(this.commandFiles?.masks.added() ?? [])]);
    this.#log.write(bytes);
  }
}
