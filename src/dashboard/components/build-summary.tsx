import { assetUrl } from "../asset-url.ts";

/** The page's script renders the Markdown; without scripts its source is shown. */
export const BuildSummary = ({ text }: { text: string }) => (
  <section class="part" id="summary">
    <h2>Summary</h2>
    <div class="prose" id="summary-shown" data-keep data-renderer={assetUrl("markdown.js")}></div>
    <pre class="prose" id="summary-source">
      {text}
    </pre>
  </section>
);
