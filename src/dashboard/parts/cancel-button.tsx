import type { Child } from "../shell/markup.ts";

interface CancelButtonProps {
  action: string;
  noun: "build" | "job";
  label?: string;
  disabled: boolean;
  /** The question, which names what to cancel. */
  children: Child;
}

/** Asks before it cancels. The question is a popover, so that it opens without a script. The key `c` also opens it. */
export const CancelButton = ({ action, noun, label = "Cancel", disabled, children }: CancelButtonProps) => (
  <>
    <button type="button" popovertarget="cancel" data-key="c" disabled={disabled}>
      {label}
    </button>
    <form id="cancel" class="ask" popover="auto" method="post" action={action}>
      <p>{children}</p>
      <span class="actions">
        <button type="submit" class="danger" autofocus>
          Cancel {noun}
        </button>
        <button type="button" popovertarget="cancel" popovertargetaction="hide">
          Keep it running
        </button>
      </span>
    </form>
  </>
);
