import type { Step } from "../../protocol/build.ts";
import { triesInWords } from "../step-tries.ts";
import { StateIcon, wordOf } from "./state.tsx";
import { Elapsed } from "./time.tsx";

/** More steps than this are shown in one line that scrolls, so that the log stays visible. */
const STEPS_IN_COLUMN = 12;

const StepItem = ({ step, index, now }: { step: Step; index: number; now: Date }) => (
  <li id={`step-${index}`} data-offset={step.logOffset ?? undefined} data-state={step.status} data-name={step.name}>
    <a href={`#step-${index}`} class="step">
      <StateIcon state={step.status} />
      <span class="step-name">{step.name}</span>
      <span class="sr"> {wordOf(step.status)}</span>
      {step.startedAt && <Elapsed from={step.startedAt} to={step.finishedAt} now={now} />}
      {step.tries !== undefined && <span class="tries">{triesInWords(step.status, step.tries)}</span>}
      {step.exitCode !== null && step.exitCode !== 0 && <span class="exit">exit {step.exitCode}</span>}
    </a>
  </li>
);

export const BuildSteps = ({ steps, now }: { steps: Step[]; now: Date }) => (
  <ol class={steps.length > STEPS_IN_COLUMN ? "steps many" : "steps"} id="steps" aria-label="Steps">
    {steps.map((step, index) => (
      <StepItem step={step} index={index} now={now} />
    ))}
  </ol>
);
