import { assetUrl } from "../../asset-url.ts";
import { Document } from "../../document.tsx";
import type { Theme } from "../../theme.ts";

interface ReturnProps {
  theme: Theme;
  heading: string;
  text: string;
  action: string;
  fields: Record<string, string>;
}

/** A page without a session, with one button that goes on. */
export const ReturnPage = ({ theme, heading, text, action, fields }: ReturnProps) => (
  <Document title={heading} theme={theme}>
    <main id="main" class="narrow">
      <h1>
        <img src={assetUrl("mark.svg")} alt="" width="28" height="28" /> {heading}
      </h1>
      <p>{text}</p>
      <form method="post" action={action} class="stack">
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button type="submit" class="primary" autofocus>
          Continue
        </button>
      </form>
      <p class="hint">If you were signed out meanwhile, sign in, then come back to this page within an hour.</p>
    </main>
  </Document>
);
