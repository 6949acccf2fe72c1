/** A text to copy. The page's script adds a button that does it. */
export const Copyable = ({ text }: { text: string }) => (
  <div class="copied">
    <pre tabindex={0}>{text}</pre>
  </div>
);
