/** Shows a text to copy. The page's script adds the button. */
export const Copyable = ({ text }: { text: string }) => (
  <div class="copied">
    <pre tabindex={0}>{text}</pre>
  </div>
);

/** Shows the short form of a long text, such as a commit. The page's script makes the button copy the long form. */
export const CopiedCode = ({ text, label }: { text: string; label: string }) => (
  <span class="copied-code">
    <code title={text}>{label}</code>
    <button type="button" class="quiet copy scripted" data-copy={text} aria-label={`Copy ${label}`}>
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />
      </svg>
    </button>
  </span>
);
