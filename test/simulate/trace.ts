import type { Command } from "../../src/queue/commands/step.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import { FAULTS, type Fault } from "./faults.ts";
import type { AnyInput } from "./observations.ts";
import type { AnsweredCall, Observer } from "./observer.ts";
import type { SimStorage } from "./storage.ts";
import { answerWords, callerOf, changeWords, clock, requestWords } from "./trace-words.ts";

export const LEGEND = `Each line of a trace is one call of the pool:
  time     since the start of the history, minutes:seconds, with hours and days if there are any
  caller   a1, a2 ... are agents; "api" is a person or a program, "hook" a delivery of a git host, "worker" the
           Worker between a poll and its answer, "pool" the pool's own timers (not shown while they change nothing)
  command  with its build (b1, b2 ...), the fence of its lease (#1, #2 ... in order of the grants; #?N was never
           granted) and what it asks for
  => answer
  | changes of builds, leases and agents, and the hints that waiting agents get
A line with "!" is an injected fault: a lost answer belongs to the call above it. A line with "--" is a remark.`;

/** Writes the calls and faults of a history as lines that people read. */
export class Trace implements Observer {
  readonly #print: (line: string) => void;
  /** Fences are large numbers, so the trace numbers them. */
  readonly #fences = new Map<number, string>();
  #call: { now: number; caller: string; words: string } | null = null;
  #changes: string[] = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  onCall(now: number, command: Command, input: AnyInput): void {
    const fence = typeof input?.fence === "number" ? this.#fenceName(input.fence) : "";
    const words = [command, input?.jobId ?? input?.buildId, fence, requestWords(command, input)]
      .filter(Boolean)
      .join(" ");
    this.#call = { now, caller: callerOf(command, input), words };
    this.#changes = [];
  }

  onCommit(changes: readonly Change[], storage: SimStorage): void {
    for (const change of changes) {
      const lease = change.kind === "job" ? change.job.lease : null;
      if (lease && !this.#fences.has(lease.fence)) this.#fences.set(lease.fence, `#${this.#fences.size + 1}`);
    }
    this.#changes.push(...changeWords(changes, storage, this.#call?.now ?? 0, (fence) => this.#fenceName(fence)));
  }

  onAnswer({ now, command, answer, pushes }: AnsweredCall): void {
    for (const { agentId, hint } of pushes)
      this.#changes.push(`hint to ${agentId}: ${hint.type} ${hint.buildId ?? ""}`.trimEnd());
    const isIdle = this.#call?.caller === "pool" && this.#changes.length === 0;
    if (!isIdle)
      this.#printCall(answer.ok ? answerWords(command, answer.value, now) : `refused: ${answer.refusal.kind}`);
    this.#call = null;
  }

  onFault(now: number, fault: Fault, about: string): void {
    this.#print(`${clock(now).padStart(10)}  ! ${fault}${about ? ` (${about})` : ""}: ${FAULTS[fault]}`);
  }

  onNote(now: number, text: string): void {
    this.#print(`${clock(now).padStart(10)}  -- ${text}`);
  }

  /** Prints the call that a violation interrupted, with its changes up to then. */
  printInterrupted(): void {
    if (this.#call) this.#printCall("(violation)");
  }

  #printCall(answer: string): void {
    const { now, caller, words } = this.#call!;
    const changes = this.#changes.length > 0 ? `  | ${this.#changes.join("; ")}` : "";
    this.#print(
      `${clock(now).padStart(10)}  ${caller.padEnd(6)}  ${words.padEnd(28)}  => ${answer.padEnd(22)}${changes}`.trimEnd(),
    );
  }

  #fenceName(fence: number): string {
    return this.#fences.get(fence) ?? `#?${fence % 1_000_000}`;
  }
}

/** Writes the same as one JSON object per line, with nothing left out. */
export class JsonTrace implements Observer {
  readonly #print: (line: string) => void;
  #changes: Change[] = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  onCall(now: number, command: Command, input: unknown): void {
    this.#changes = [];
    this.#print(JSON.stringify({ at: now, command, input }));
  }

  onCommit(changes: readonly Change[]): void {
    this.#changes.push(...changes);
  }

  onAnswer({ now, answer, pushes }: AnsweredCall): void {
    this.#print(JSON.stringify({ at: now, answer, changes: this.#changes, pushes }));
  }

  onFault(now: number, fault: Fault, about: string): void {
    this.#print(JSON.stringify({ at: now, fault, about }));
  }

  onNote(now: number, text: string): void {
    this.#print(JSON.stringify({ at: now, note: text }));
  }
}
