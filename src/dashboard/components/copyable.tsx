/** Text to be taken elsewhere; with a script it has a button that copies it. */
export const Copyable = ({ text }: { text: string }) => (
  <div class="copied">
    <pre tabindex={0}>{text}</pre>
  </div>
);
